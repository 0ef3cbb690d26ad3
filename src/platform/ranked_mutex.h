// A mutex with a place in the one global locking order.
//
// A thread may acquire a mutex only while every mutex it holds has a lower rank. Checked builds
// (fallow::detail::kChecked) keep the ranks that each thread holds and stop the program at the
// first violation, naming both locks, whether or not it would have deadlocked this time. In other
// builds a RankedMutex costs what a std::mutex costs. One that is held for no longer than it takes
// to change a few words is waited for without going to sleep.
//
// Use it with std::lock_guard, std::unique_lock and std::condition_variable_any. native() is for
// std::condition_variable; a lock taken through native() is invisible to the check.
// Thread-safety: as std::mutex. Errors: misuse is fatal() in checked builds, undefined otherwise.
#pragma once

#include <fallow/detail/build_config.h>

#include <mutex>

namespace fallow::platform {

// In order of acquisition: a thread that holds one may acquire those further down.
enum class LockRank : int {
  kProfileControl = 4,    // starting and stopping a recording
  kHeapWatchers = 5,      // who is told about heaps, while they are told
  kProcessRegistry = 10,  // heaps and threads of the process
  kHeapCollection = 20,   // held for the length of a collection or step
  kNoGcGate = 25,         // open no-GC scopes
  kHeapState = 30,        // mutator list, stop requests, pacing
  kNurseryPool = 40,      // free nursery chunks
  kOldSpace = 50,         // blocks and chunks of the old space
  kLargeSpace = 60,       // large objects
  kAddressSpace = 65,     // the reserved range that all heaps share
  kGlobals = 70,          // global roots
  kOrphans = 75,          // what threads without a mutator have recorded
  kLives = 76,            // entries and queues of objects with a life of their own
  kDeliveries = 77,       // what waits in one such queue
  kListeners = 80,        // event listeners
  kDevices = 81,          // the devices of the process
  kDeviceCalls = 82,      // registrations of responders, observers and trace sinks
  kDevicePool = 83,       // regions and blocks of a device, its waiting threads
  kHostBackend = 84,      // streams and regions of a software device
  kEvents = 85,           // events that listeners have not been told yet
  kDeviceTrace = 86,      // the file of a trace
  kLog = 90,              // the log; innermost of those that allocate, for anything may be logged
  // Allocations are sampled inside malloc, whatever locks the caller holds.
  kProfileWriter = 91,       // the file of a recording, while it is written to
  kProfileStreams = 92,      // which thread has which stream
  kProfileFunctions = 93,    // functions and code of embedded languages
  kProfileDefinitions = 94,  // call stacks, strings and types of a recording
  kProfileBuffers = 95,      // buffers of events
};

class RankedMutex {
 public:
  // `name` is kept, not copied: pass a literal.
  explicit RankedMutex(LockRank rank, const char* name) noexcept : rank_(rank), name_(name) {}
  RankedMutex(const RankedMutex&) = delete;
  RankedMutex& operator=(const RankedMutex&) = delete;

  void lock() {
    if constexpr (fallow::detail::kChecked) before_lock();
    if (!mutex_.try_lock()) lock_contended();
    if constexpr (fallow::detail::kChecked) note_acquired();
  }
  void unlock() {
    if constexpr (fallow::detail::kChecked) note_released();
    mutex_.unlock();
  }

  // Cannot deadlock, so it may be tried against the order; it counts as held afterwards. Trying a
  // mutex that the thread already holds is misuse.
  bool try_lock() {
    if constexpr (fallow::detail::kChecked) before_try_lock();
    const bool acquired = mutex_.try_lock();
    if constexpr (fallow::detail::kChecked) {
      if (acquired) note_acquired();
    }
    return acquired;
  }

  // Checked builds: stops the program if lock() would break the order now. For those who try first
  // and wait only if they must.
  void expect_order() const {
    if constexpr (fallow::detail::kChecked) refuse_wrong_order();
  }

  // Checked builds: whether the calling thread holds this mutex. Otherwise always true, so that it
  // can be asserted.
  bool held_by_this_thread() const noexcept;

  std::mutex& native() noexcept { return mutex_; }
  LockRank rank() const noexcept { return rank_; }
  const char* name() const noexcept { return name_; }

 private:
  void lock_contended();
  void refuse_recursion() const;
  void refuse_wrong_order() const;
  void refuse_too_many() const;
  void before_lock() const;
  void before_try_lock() const;
  void note_acquired() const noexcept;
  void note_released() const;

  std::mutex mutex_;
  const LockRank rank_;
  const char* const name_;
};

}  // namespace fallow::platform
