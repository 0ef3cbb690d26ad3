// A model of the heap: random operations on managed objects, mirrored in plain C++ structures.
//
// Each worker (a thread with a mutator of its own) has objects that only it changes. Besides, all
// workers share objects that are changed and followed under a lock; an object that becomes
// reachable from a shared one becomes shared with all that it reaches. Now and then everything that
// a worker can reach is compared with the model: types, contents, lengths, and where every
// reference leads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/heap/model/roots.h"

namespace fallow::test {

struct ModelSettings {
  HeapOptions options;
  std::size_t steps = 2000;  ///< of each worker
  bool helper_threads = true;
};

/// What the workers share.
class ModelWorld {
 public:
  explicit ModelWorld(const ModelSettings& settings);

  /// The first fault that anyone found; empty if none.
  void fail(const std::string& text);
  [[nodiscard]] bool failed() const { return failed_.load(); }
  [[nodiscard]] std::string fault();

  const ModelSettings settings;
  Heap heap;
  std::mutex lock;  ///< taken with try_lock between polls, so that collections do not wait for it
  std::vector<std::unique_ptr<GlobalRoot>> roots;  ///< guarded by lock
  std::uint64_t walks = 0;                         ///< guarded by lock
  std::atomic<std::uint64_t> next_id{1};
  std::atomic<std::uint64_t> out_of_memory{0};

 private:
  std::atomic<bool> failed_{false};
  std::mutex fault_mutex_;
  std::string fault_;
};

class ModelWorker {
 public:
  /// `number` from 1; `alone` if there are no others, which allows exact checks of the whole heap.
  ModelWorker(ModelWorld& world, Decisions decisions, int number, bool alone);

  /// Attaches and detaches some times on the way. Clears its roots at the end.
  void run();

 private:
  struct Pick {
    Shadow* shadow = nullptr;
    Ref<Object> object;
  };
  class Locked;

  void attached();
  void scope(Mutator& mutator, int depth);
  void steps(Mutator& mutator, int depth);
  void step(Mutator& mutator, int depth);
  void without_collections(Mutator& mutator);
  void mutate(Mutator& mutator, bool locked);

  // Operations (operations.cpp).
  void allocate(Mutator& mutator, bool locked);
  void store(bool locked);
  void assign_root(bool locked);
  void change_array(bool locked);
  void make_chain(Mutator& mutator, int depth);
  void run_helper(Mutator& mutator);
  void clear_some_roots();

  // Finding objects.
  Root& random_root(bool locked);
  Pick pick(bool locked);
  /// An array that may be followed, or one that may be changed; null if none was found.
  Pick pick_array(bool locked, bool to_change);
  [[nodiscard]] bool may_change(const Shadow& shadow, bool locked) const {
    return shadow.owner == number_ || (locked && shadow.owner == kShared);
  }
  void publish(Shadow* shadow);
  Shadow& new_shadow(Kind kind, std::size_t length);

  // Comparing (check.cpp).
  void check_everything(Mutator& mutator);
  std::size_t walk();
  bool visit(Object* object, Shadow* shadow);

  static constexpr int kShared = 0;

  ModelWorld& world_;
  Decisions decisions_;
  const int number_;
  const bool alone_;
  std::size_t steps_left_;
  std::vector<Root*> roots_;
  std::vector<std::unique_ptr<GlobalRoot>> globals_;
  std::deque<Shadow> shadows_;
  std::vector<Pick> pending_;
  std::vector<Shadow*> to_publish_;
};

/// Runs one worker on the calling thread; returns the fault, empty if none.
std::string run_model(const ModelSettings& settings, const Decisions& decisions);

/// Runs several workers in threads of their own.
std::string run_model_threads(const ModelSettings& settings, std::uint64_t seed, int workers);

}  // namespace fallow::test
