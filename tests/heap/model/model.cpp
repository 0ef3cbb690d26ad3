#include "tests/heap/model/model.h"

#include <array>
#include <chrono>
#include <thread>

#include "fallow/errors.h"
#include "fallow/major_pause.h"
#include "fallow/no_gc.h"

namespace fallow::test {

namespace {
constexpr std::size_t kSharedRoots = 8;
constexpr std::size_t kSlotRoots = 5;
constexpr int kDeepestScope = 5;
/// Steps between two comparisons of everything, on average.
constexpr std::size_t kStepsPerCheck = 150;
}  // namespace

ModelWorld::ModelWorld(const ModelSettings& model_settings)
    : settings(model_settings), heap(model_settings.options) {
  for (std::size_t i = 0; i < kSharedRoots; ++i)
    roots.push_back(std::make_unique<GlobalRoot>(heap));
}

void ModelWorld::fail(const std::string& text) {
  const std::scoped_lock guard(fault_mutex_);
  if (!failed_.exchange(true)) fault_ = text;
}

std::string ModelWorld::fault() {
  const std::scoped_lock guard(fault_mutex_);
  return fault_;
}

/// Holds the lock of the shared objects. While it waits, collections go on.
class ModelWorker::Locked {
 public:
  Locked(ModelWorld& world, Mutator& mutator) : world_(world) {
    while (!world_.lock.try_lock()) {
      mutator.poll();
      std::this_thread::yield();
    }
  }
  ~Locked() { world_.lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  ModelWorld& world_;
};

ModelWorker::ModelWorker(ModelWorld& world, Decisions decisions, int number, bool alone)
    : world_(world),
      decisions_(decisions),
      number_(number),
      alone_(alone),
      steps_left_(world.settings.steps) {}

void ModelWorker::run() {
  for (int i = 0; i < 3; ++i) globals_.push_back(std::make_unique<GlobalRoot>(world_.heap));
  while (steps_left_ > 0 && !world_.failed() && !decisions_.exhausted()) attached();
  globals_.clear();
}

void ModelWorker::attached() {
  Mutator mutator(world_.heap, "model worker");
  scope(mutator, 0);
  const Locked guard(world_, mutator);
  check_everything(mutator);
}

void ModelWorker::scope(Mutator& mutator, int depth) {
  const std::size_t before = roots_.size();
  switch (decisions_.below(3)) {
    case 0: {
      LocalRoot first(mutator);
      LocalRoot second(mutator);
      LocalRoot third(mutator);
      for (Root* root : {&first, &second, &third}) roots_.push_back(root);
      steps(mutator, depth);
      break;
    }
    case 1: {
      Frame frame(mutator, kSlotRoots);
      std::array<SlotRoot, kSlotRoots> slots;
      for (std::size_t i = 0; i < kSlotRoots; ++i) {
        slots[i].bind(frame[i]);
        roots_.push_back(&slots[i]);
      }
      steps(mutator, depth);
      break;
    }
    default: {
      ArrayProvider<kSlotRoots> provider;
      const RootProviderScope registered(mutator, provider);
      std::array<SlotRoot, kSlotRoots> slots;
      for (std::size_t i = 0; i < kSlotRoots; ++i) {
        slots[i].bind(provider.slots[i]);
        roots_.push_back(&slots[i]);
      }
      steps(mutator, depth);
    }
  }
  roots_.resize(before);
}

void ModelWorker::steps(Mutator& mutator, int depth) {
  std::size_t count = 1 + decisions_.below(depth == 0 ? 1500 : 200);
  for (; count > 0 && steps_left_ > 0 && !world_.failed() && !decisions_.exhausted(); --count) {
    --steps_left_;
    try {
      step(mutator, depth);
    } catch (const OutOfMemory&) {
      world_.out_of_memory.fetch_add(1);
      clear_some_roots();
    }
  }
}

void ModelWorker::without_collections(Mutator& mutator) {
  const std::size_t most = world_.heap.options().nursery_bytes / 4;
  // With a deadline, since other workers wait. What does not fit ends the scope early.
  const NoGc scope(mutator, decisions_.below(most) + 1, std::chrono::microseconds(200));
  for (std::size_t count = decisions_.below(8); count > 0; --count) mutate(mutator, false);
}

void ModelWorker::step(Mutator& mutator, int depth) {
  switch (decisions_.below(100)) {
    case 0:
    case 1:
    case 2:
      world_.heap.collect_minor();
      return;
    case 3:
      if (decisions_.one_in(4)) world_.heap.collect();
      return;
    case 4:
    case 5:
      mutator.poll();
      return;
    case 6: {
      const Parked parked(mutator);
      std::this_thread::yield();
      return;
    }
    case 7:
    case 8:
    case 9:
      if (depth < kDeepestScope) scope(mutator, depth + 1);
      return;
    case 10:
    case 11:
      if (depth < kDeepestScope) make_chain(mutator, depth);
      return;
    case 12:
      if (world_.settings.helper_threads && decisions_.one_in(20)) run_helper(mutator);
      return;
    case 13:
      clear_some_roots();
      return;
    case 14:
    case 15:
      // By quanta, not by time: a seed says all.
      for (std::size_t quanta = decisions_.below(20); quanta > 0; --quanta) {
        world_.heap.step(std::chrono::nanoseconds(0));
      }
      return;
    case 16:
      if (depth < kDeepestScope) {
        const MajorPause pause(world_.heap);
        scope(mutator, depth + 1);
      }
      return;
    case 17:
      without_collections(mutator);
      return;
    case 18:
      if (decisions_.one_in(8)) world_.heap.trim();
      return;
    default:
      break;
  }
  if (decisions_.one_in(kStepsPerCheck)) {
    const Locked guard(world_, mutator);
    check_everything(mutator);
  } else if (decisions_.one_in(3)) {
    const Locked guard(world_, mutator);
    mutate(mutator, true);
  } else {
    mutate(mutator, false);
  }
}

void ModelWorker::mutate(Mutator& mutator, bool locked) {
  switch (decisions_.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      allocate(mutator, locked);
      break;
    case 5:
    case 6:
    case 7:
      store(locked);
      break;
    case 8:
      assign_root(locked);
      break;
    default:
      change_array(locked);
  }
}

std::string run_model(const ModelSettings& settings, const Decisions& decisions) {
  ModelWorld world(settings);
  ModelWorker(world, decisions, 1, true).run();
  if (!world.failed()) {
    for (const auto& root : world.roots) root->clear();
    world.heap.collect();
    const VerifyReport report = world.heap.verify();
    if (!report.complaints.empty()) world.fail("at the end: " + complaints(report));
    if (report.objects != 0) world.fail("objects without roots are left at the end");
    const HeapStatistics statistics = world.heap.statistics();
    if (statistics.old_used + statistics.large_used != 0) world.fail("the empty heap is in use");
  }
  return world.fault();
}

std::string run_model_threads(const ModelSettings& settings, std::uint64_t seed, int workers) {
  ModelWorld world(settings);
  std::deque<ModelWorker> states;
  std::vector<std::thread> threads;
  for (int i = 1; i <= workers; ++i) {
    const Decisions decisions(scramble(seed + static_cast<std::uint64_t>(i)));
    ModelWorker& state = states.emplace_back(world, decisions, i, false);
    threads.emplace_back([&world, &state] {
      try {
        state.run();
      } catch (const std::exception& error) {
        world.fail(std::string("an exception: ") + error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (!world.failed()) {
    const VerifyReport report = world.heap.verify();
    if (!report.complaints.empty()) world.fail("at the end: " + complaints(report));
  }
  return world.fault();
}

}  // namespace fallow::test
