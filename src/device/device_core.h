#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/call_registry.h"
#include "device/damper.h"
#include "device/in_flight.h"
#include "device/pending_frees.h"
#include "device/pool.h"
#include "device/waiter_queue.h"
#include "device/watermarks.h"
#include "fallow/device.h"
#include "fallow/thread_hooks.h"
#include "platform/ranked_mutex.h"

namespace fallow::device::detail {

/// A responder's place in the order, and what it has done; the latter guarded by the registry.
struct ResponderData {
  ResponderOptions options;
  ResponderStatistics statistics;
};
struct CheaperFirst {
  bool operator()(const ResponderData& a, const ResponderData& b) const noexcept {
    if (a.options.cost != b.options.cost) return a.options.cost < b.options.cost;
    return a.options.priority < b.options.priority;
  }
};
struct NoData {};
struct NoOrder {
  bool operator()(const NoData&, const NoData&) const noexcept { return false; }
};
using Responders = CallRegistry<PressureResponder, ResponderData, CheaperFirst>;
using Observers = CallRegistry<PressureObserver, NoData, NoOrder>;
using TraceSinks = CallRegistry<TraceSink, NoData, NoOrder>;

/// Who waits and who reclaims in a domain. Belongs to the holder of the device's mutex.
struct DomainPressure {
  WaiterQueue queue;
  /// Requests that wait for the end of the damper's quiet time, or for room. They hold nobody up.
  WaiterQueue resting;
  std::uint64_t leader = 0;         ///< thread that reclaims, or 0
  const char* responder = nullptr;  ///< name of the responder that it is in
  Damper damper;
  Watermarks watermarks;
  PressureStatistics statistics;
};

/// What a device consists of. The mutex guards `pool`, `pressure`, `in_flight` and the counters; no
/// code from outside runs while it is held. See docs/pressure.md.
class DeviceCore {
 public:
  DeviceCore(std::shared_ptr<DeviceBackend> backend, const DeviceOptions& options);
  ~DeviceCore();
  DeviceCore(const DeviceCore&) = delete;
  DeviceCore& operator=(const DeviceCore&) = delete;

  /// Holds the mutex. The thread is detached if it has to wait. What others freed meanwhile is
  /// completed at the beginning, and once more after the end.
  class Locked {
   public:
    explicit Locked(DeviceCore& core) : core_(core) {
      core.mutex.expect_order();
      if (!core.mutex.try_lock()) [[unlikely]]
        wait();
      if (core.anything_pending()) [[unlikely]]
        core.commit_pending();
    }
    ~Locked() { core_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    void wait();

    DeviceCore& core_;
    std::optional<BlockingScope> detached_;
  };

  /// Nothing only when it may not wait.
  std::optional<Allocation> allocate(const AllocationRequest& asked, bool may_wait);
  void free(Allocation allocation, std::span<const StreamId> streams);
  void poll_streams() noexcept;
  std::uint64_t trim();

  /// The live block of an allocation; throws StaleAllocation, naming what was tried.
  Block& resolve(Allocation allocation, const char* what) const;
  DeviceStatistics statistics();
  void reset_peaks();
  std::string dump(DumpFormat format);
  /// Tells the sinks, if there are any.
  void trace(TraceEvent::Action action, std::uint64_t allocation, std::uint64_t bytes,
             StreamId stream) noexcept {
    if (!sinks->empty()) [[unlikely]]
      tell_sinks(action, allocation, bytes, stream);
  }
  void tell_sinks(TraceEvent::Action action, std::uint64_t allocation, std::uint64_t bytes,
                  StreamId stream) noexcept;

  // The parts of an allocation under pressure: see pressure_wait.cpp.

  Block* wait_for_room(const AllocationRequest& asked, const PoolRequest& request,
                       DomainId lacking);
  /// Searches, acquires regions, and searches again, without reclaiming. `lacking` becomes the
  /// domain without room. Others who wait come first, unless they are to be passed by.
  Block* place_or_grow(const PoolRequest& request, DomainId& lacking, bool pass_by);
  /// Acquires a region for `bytes`, without the mutex. False when there is none to be had.
  bool grow(DomainId domain, MemoryType type, std::uint64_t bytes);
  /// Acquires what DeviceOptions::emergency_bytes sets aside, once. Without the mutex.
  void set_aside(DomainId domain);
  /// Gives empty regions of a domain back; returns their bytes.
  std::uint64_t release_empty(DomainId domain);
  /// Serves those who wait, in order. With the mutex.
  void serve_waiters() noexcept;
  void serve(DomainId domain) noexcept;
  bool serve_first(DomainId domain) noexcept;
  void serve_resting(DomainId domain) noexcept;
  /// The first that waits looks whether it should reclaim. With the mutex.
  void wake_first(DomainId domain) noexcept;
  /// With the mutex.
  void enter_queue(Waiter& waiter) noexcept;
  void leave_queue(Waiter& waiter) noexcept;
  /// With the mutex: from the queue to those who rest, and back to its end.
  void start_rest(Waiter& waiter) noexcept;
  void end_rest(Waiter& waiter) noexcept;
  /// With the mutex: all figures of a domain and type.
  [[nodiscard]] UsageStatistics usage_of(DomainId domain, MemoryType type) const noexcept;
  /// Calls use(observer) for each observer; what it throws is dropped. Observers are not told of
  /// what they do themselves, and no ladder is climbed for them.
  template <class Use>
  void tell(Use&& use) {
    if (ThreadFrame::depth(observers.get()) != 0) return;
    const ThreadFrame here(this);
    const ThreadFrame telling(observers.get());
    observers->each([&use](auto& entry) {
      try {
        use(*entry.target);
      } catch (...) {  // NOLINT(bugprone-empty-catch): an observer changes nothing
      }
    });
  }
  [[noreturn]] void fail(OutOfMemoryReport report);
  /// Calls responders because of a watermark.
  void relieve(const PoolRequest& request);

  /// Around a fork.
  void prepare_fork();
  void parent_after_fork() noexcept;
  void child_after_fork() noexcept;
  [[nodiscard]] bool forked() const noexcept { return forked_.load(std::memory_order_relaxed); }

  const std::shared_ptr<DeviceBackend> backend;
  const DeviceOptions options;
  const std::shared_ptr<Responders> responders = std::make_shared<Responders>();
  const std::shared_ptr<Observers> observers = std::make_shared<Observers>();
  const std::shared_ptr<TraceSinks> sinks = std::make_shared<TraceSinks>();

  mutable platform::RankedMutex mutex{platform::LockRank::kDevicePool, "device pool"};
  Pool pool;
  std::vector<DomainPressure> pressure;
  InFlight in_flight;

 private:
  /// False for zero bytes. Throws UsageError and RequestTooLarge.
  bool check(const AllocationRequest& asked, PoolRequest& request) const;
  [[nodiscard]] std::uint64_t largest_possible(const PoolRequest& request) const noexcept;
  /// Whether nobody waits for the domains of a request; else one of those.
  bool nobody_waits(const PoolRequest& request, DomainId& domain) const noexcept;
  [[nodiscard]] Allocation handle_of(const Block& head) const noexcept;
  Block& claim(Allocation allocation);
  [[nodiscard]] bool anything_pending() const noexcept {
    return !pending_.empty() || !pending_streams_.empty();
  }
  /// With the mutex: completes the frees that are pending.
  void commit_pending() noexcept;
  /// Those who wait are served if there are any; then the mutex is given up.
  void serve_and_unlock() noexcept;
  void free_with_streams(Allocation allocation, std::span<const StreamId> streams);
  void unlock() noexcept {
    mutex.unlock();
    // Who found the mutex taken has left its block here, and may have done so just before.
    if (anything_pending()) [[unlikely]]
      commit_after_unlock();
  }
  void commit_after_unlock() noexcept;
  bool watermark_crossed(const PoolRequest& request) noexcept;
  /// Throws OptionError.
  void choose_region_sizes();
  void give_to_backend(const Region& region) noexcept;

  std::uint32_t number_ = 0;  ///< of this device in the process
  FaultInjector* const faults_;
  std::vector<std::vector<std::uint64_t>> region_sizes_;  ///< by domain and type, largest first
  std::vector<std::uint64_t> largest_region_;             ///< the first of each
  PendingFrees<Block, &Block::pending_next> pending_;
  PendingFrees<StreamFree, &StreamFree::next> pending_streams_;
  std::size_t waiting_ = 0;
  std::uint64_t frees_ = 0;
  bool watermarks_on_ = false;
  std::uint64_t valid_domains_ = 0;  ///< bit d for domain d
  std::atomic<std::uint64_t> deferred_frees_{0};
  std::atomic<bool> forked_{false};
};

struct AllocationAccess {
  static Allocation make(std::uint64_t serial, std::uint32_t slot, std::uint32_t device) noexcept {
    Allocation allocation;
    allocation.serial_ = serial;
    allocation.slot_ = slot;
    allocation.device_ = device;
    return allocation;
  }
  static std::uint32_t slot(const Allocation& allocation) noexcept { return allocation.slot_; }
  static std::uint32_t device(const Allocation& allocation) noexcept { return allocation.device_; }
};

/// For tests, which look inside.
struct DeviceAccess {
  static DeviceCore& core(Device& device) noexcept { return *device.core_; }
};

}  // namespace fallow::device::detail
