// What an allocation does that did not fit at once: it queues, and who is first reclaims.
#include <algorithm>
#include <bit>
#include <utility>

#include "device/device_core.h"
#include "device/ladder.h"
#include "platform/clock.h"
#include "platform/thread_id.h"

namespace fallow::device::detail {

namespace {

/// How long a waiting thread sleeps before it asks its hooks whether to go on.
constexpr std::uint64_t kSliceNs = 50'000'000;

}  // namespace

/// A request that waits, from its arrival to its end.
class PressureWait {
 public:
  PressureWait(DeviceCore& core, const AllocationRequest& asked, const PoolRequest& request)
      : core_(core), asked_(asked), deadline_(Clock::now() + budget(core, asked)) {
    waiter_.request = request;
  }
  ~PressureWait() {
    // On the way out with an exception.
    if (Block* const block = leave()) {
      const DeviceCore::Locked lock(core_);
      core_.pool.give_back(block);
      core_.serve_waiters();
    }
  }
  PressureWait(const PressureWait&) = delete;
  PressureWait& operator=(const PressureWait&) = delete;

  Block* run(DomainId lacking);
  /// Where nobody may wait: no ladder, no queue.
  Block* run_nested(DomainId lacking);

 private:
  enum class Turn { kServed, kLead, kWait, kNoMetadata };

  static std::chrono::nanoseconds budget(const DeviceCore& core, const AllocationRequest& asked) {
    return asked.budget.count() > 0 ? asked.budget : core.options.pressure_budget;
  }
  void enter_queue(DomainId lacking);
  Turn turn(std::uint32_t& signal);
  /// Leaves the queue, with what was reserved meanwhile.
  Block* leave() noexcept;
  /// Whether the request came to an end.
  bool lead();
  /// Lets others pass until the damper permits a ladder.
  std::optional<GivenUp> rest();
  void sleep(std::uint32_t signal, std::uint64_t most_ns = kSliceNs) noexcept;
  [[noreturn]] void give_up(GivenUp reason);

  DeviceCore& core_;
  const AllocationRequest& asked_;
  const Clock::time_point deadline_;
  const std::uint64_t arrived_ns_ = platform::monotonic_ns();
  BlockingScope detached_;
  Waiter waiter_;
  Ledger ledger_;
  bool queued_ = false;
};

void PressureWait::enter_queue(DomainId lacking) {
  const DeviceCore::Locked lock(core_);
  waiter_.domain = lacking;
  core_.enter_queue(waiter_);
  queued_ = true;
}

PressureWait::Turn PressureWait::turn(std::uint32_t& signal) {
  const DeviceCore::Locked lock(core_);
  signal = waiter_.signal.load(std::memory_order_acquire);
  if (waiter_.block != nullptr) return Turn::kServed;
  if (waiter_.no_metadata) return Turn::kNoMetadata;
  DomainPressure& pressure = core_.pressure[waiter_.domain];
  if (pressure.queue.first() != &waiter_ || pressure.leader != 0) return Turn::kWait;
  pressure.leader = platform::current_thread_id();
  return Turn::kLead;
}

bool PressureWait::lead() {
  const DomainId domain = waiter_.domain;
  const std::uint64_t began_ns = platform::monotonic_ns();
  const std::uint64_t reclaimed_before = ledger_.reclaimed_bytes;
  {
    struct Resign {
      DeviceCore& core;
      DomainId domain;
      ~Resign() {
        const DeviceCore::Locked lock(core);
        core.pressure[domain].leader = 0;
        core.wake_first(domain);
      }
    } const resign{core_, domain};
    const ThreadFrame frame(&core_);
    Ladder(core_, waiter_, deadline_, ledger_).climb(arrived_ns_);
  }
  bool served = false;
  bool moved = false;
  {
    const DeviceCore::Locked lock(core_);
    served = waiter_.block != nullptr;
    moved = waiter_.domain != domain;
    if (served) core_.pressure[domain].damper.note_success();
  }
  if (!served && ledger_.rest_until_ns != 0) return !moved;
  const PressureWindowEvent event{domain, waiter_.request.chunk_bytes(), served,
                                  ledger_.reclaimed_bytes - reclaimed_before,
                                  platform::monotonic_ns() - began_ns};
  core_.tell([&event](PressureObserver& observer) { observer.on_window(event); });
  return !served && !moved;
}

std::optional<GivenUp> PressureWait::rest() {
  const std::uint64_t until_ns = std::exchange(ledger_.rest_until_ns, 0);
  {
    const DeviceCore::Locked lock(core_);
    if (waiter_.block != nullptr) return std::nullopt;
    core_.start_rest(waiter_);
  }
  std::optional<GivenUp> reason;
  for (;;) {
    std::uint32_t signal = 0;
    const std::uint64_t now_ns = platform::monotonic_ns();
    {
      const DeviceCore::Locked lock(core_);
      signal = waiter_.signal.load(std::memory_order_acquire);
      if (waiter_.block != nullptr || waiter_.no_metadata) return std::nullopt;
      if (Clock::now() >= deadline_) reason = GivenUp::kDamped;
      if (now_ns >= until_ns || reason) {
        core_.end_rest(waiter_);
        return reason;
      }
    }
    sleep(signal, until_ns - now_ns);
    if (detached_.interrupted()) reason = GivenUp::kInterrupted;
  }
}

void PressureWait::sleep(std::uint32_t signal, std::uint64_t most_ns) noexcept {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline_ - Clock::now());
  if (left.count() <= 0) return;
  platform::futex_wait(waiter_.signal, signal,
                       std::min({kSliceNs, most_ns, static_cast<std::uint64_t>(left.count())}));
}

Block* PressureWait::leave() noexcept {
  if (!std::exchange(queued_, false)) return nullptr;
  const DeviceCore::Locked lock(core_);
  if (waiter_.block == nullptr) core_.leave_queue(waiter_);
  return waiter_.block;
}

Block* PressureWait::run(DomainId lacking) {
  enter_queue(lacking);
  std::optional<GivenUp> reason;
  while (!reason) {
    std::uint32_t signal = 0;
    const Turn next = turn(signal);
    if (next == Turn::kServed) break;
    if (next == Turn::kNoMetadata) {
      reason = GivenUp::kNoMetadata;
    } else if (next == Turn::kLead) {
      if (lead()) reason = ledger_.rest_until_ns != 0 ? rest() : ledger_.given_up;
    } else {
      sleep(signal);
      if (detached_.interrupted()) reason = GivenUp::kInterrupted;
    }
    if (!reason && Clock::now() >= deadline_) reason = GivenUp::kOutOfTime;
  }
  // What came in the last moment is taken.
  if (Block* const block = leave()) return block;
  give_up(waiter_.no_metadata ? GivenUp::kNoMetadata : reason.value_or(GivenUp::kOutOfTime));
}

Block* PressureWait::run_nested(DomainId lacking) {
  core_.poll_streams();
  if (Block* const block = core_.place_or_grow(waiter_.request, lacking, true)) return block;
  PoolRequest last = waiter_.request;
  last.emergency = true;
  {
    const DeviceCore::Locked lock(core_);
    if (Block* const block = core_.pool.place(last, true).head) return block;
  }
  waiter_.domain = lacking;
  give_up(GivenUp::kNested);
}

void PressureWait::give_up(GivenUp reason) {
  OutOfMemoryReport report;
  report.request = asked_;
  report.given_up = reason;
  report.wanted_bytes = waiter_.request.chunk_bytes();
  report.waited_ns = platform::monotonic_ns() - arrived_ns_;
  report.reclaimed_bytes = ledger_.reclaimed_bytes;
  report.rounds = ledger_.rounds;
  report.responders = std::move(ledger_.responders);
  {
    const DeviceCore::Locked lock(core_);
    report.domain = waiter_.domain;
    const DomainPressure& pressure = core_.pressure[waiter_.domain];
    if (pressure.leader != 0 && pressure.leader != platform::current_thread_id()) {
      report.holder_thread = pressure.leader;
      if (pressure.responder != nullptr) report.holder_responder = pressure.responder;
    }
  }
  core_.fail(std::move(report));
}

Block* DeviceCore::wait_for_room(const AllocationRequest& asked, const PoolRequest& request,
                                 DomainId lacking) {
  PressureWait wait(*this, asked, request);
  const bool nested = ThreadFrame::depth(this) != 0 || others_wait_for_this_thread();
  return nested ? wait.run_nested(lacking) : wait.run(lacking);
}

void DeviceCore::enter_queue(Waiter& waiter) noexcept {
  DomainPressure& each = pressure[waiter.domain];
  if (!each.queue.empty() || each.leader != 0) ++each.statistics.waits;
  each.queue.push(&waiter);
  ++waiting_;
}

void DeviceCore::leave_queue(Waiter& waiter) noexcept {
  DomainPressure& each = pressure[waiter.domain];
  (waiter.resting ? each.resting : each.queue).remove(&waiter);
  --waiting_;
  // Smaller requests behind it may fit.
  serve(waiter.domain);
  wake_first(waiter.domain);
}

void DeviceCore::start_rest(Waiter& waiter) noexcept {
  DomainPressure& each = pressure[waiter.domain];
  each.queue.remove(&waiter);
  each.resting.push(&waiter);
  waiter.resting = true;
  serve(waiter.domain);
  wake_first(waiter.domain);
}

void DeviceCore::end_rest(Waiter& waiter) noexcept {
  DomainPressure& each = pressure[waiter.domain];
  each.resting.remove(&waiter);
  each.queue.push(&waiter);
  waiter.resting = false;
}

void DeviceCore::wake_first(DomainId domain) noexcept {
  DomainPressure& each = pressure[domain];
  if (each.leader == 0 && !each.queue.empty()) each.queue.first()->wake();
}

void DeviceCore::serve(DomainId domain) noexcept {
  while (!pressure[domain].queue.empty()) {
    if (!serve_first(domain)) return;
  }
  serve_resting(domain);
}

bool DeviceCore::serve_first(DomainId domain) noexcept {
  DomainPressure& each = pressure[domain];
  Waiter* const waiter = each.queue.first();
  const Pool::Placed placed = pool.place(waiter->request, true);
  if (placed.head == nullptr && placed.no_metadata) {
    waiter->no_metadata = true;
    waiter->wake();
    return false;
  }
  if (placed.head == nullptr && placed.lacking == domain) return false;
  each.queue.remove(waiter);
  if (placed.head != nullptr) {
    --waiting_;
    waiter->block = placed.head;
    ++each.statistics.served_waiting;
  } else {
    // There is room here now, but not for its part in another domain.
    waiter->domain = placed.lacking;
    pressure[placed.lacking].queue.push(waiter);
  }
  waiter->wake();
  return true;
}

void DeviceCore::serve_resting(DomainId domain) noexcept {
  DomainPressure& each = pressure[domain];
  for (Waiter* waiter = each.resting.first(); waiter != nullptr;) {
    Waiter* const next = waiter->next;
    if (Block* const head = pool.place(waiter->request, true).head) {
      each.resting.remove(waiter);
      --waiting_;
      waiter->block = head;
      ++each.statistics.served_waiting;
      waiter->wake();
    }
    waiter = next;
  }
}

void DeviceCore::serve_waiters() noexcept {
  for (DomainId domain = 0; domain < pressure.size(); ++domain) {
    if (!pressure[domain].queue.empty() || !pressure[domain].resting.empty()) serve(domain);
  }
}

void DeviceCore::fail(OutOfMemoryReport report) {
  {
    const Locked lock(*this);
    const std::uint64_t set = report.request.placement.domain_set();
    if (report.given_up == GivenUp::kInjected) {
      report.domain = static_cast<DomainId>(std::countr_zero(set));
    }
    const UsageStatistics usage = usage_of(report.domain, report.request.type);
    report.capacity_bytes = pool.domains()[report.domain].info.capacity_bytes;
    report.reserved_bytes = usage.reserved_bytes;
    report.free_bytes = usage.free_bytes;
    report.largest_free = usage.largest_free;
    report.in_flight_bytes = usage.in_flight_bytes;
    report.fragmentation = usage.fragmentation();
    ++pressure[report.domain].statistics.failed;
  }
  trace(TraceEvent::Action::kAllocateFailure, 0, report.request.bytes, 0);
  tell([&report](PressureObserver& observer) { observer.on_out_of_memory(report); });
  throw OutOfDeviceMemory(std::move(report));
}

bool DeviceCore::watermark_crossed(const PoolRequest& request) noexcept {
  bool crossed = false;
  for (std::uint64_t set = request.domain_set; set != 0; set &= set - 1) {
    const auto domain = static_cast<DomainId>(std::countr_zero(set));
    const std::uint64_t used = pool.domains()[domain].used_bytes();
    Watermarks& marks = pressure[domain].watermarks;
    marks.note_free(used - std::min(used, request.chunk_bytes()));
    crossed |= used > marks.lowest();
  }
  return crossed;
}

void DeviceCore::relieve(const PoolRequest& request) {
  if (ThreadFrame::depth(this) != 0) return;
  const BlockingScope detached;
  for (std::uint64_t set = request.domain_set; set != 0; set &= set - 1) {
    const auto domain = static_cast<DomainId>(std::countr_zero(set));
    DomainPressure& each = pressure[domain];
    const std::uint64_t began_ns = platform::monotonic_ns();
    std::optional<PressureLevel> level;
    {
      const Locked lock(*this);
      if (each.leader == 0)
        level = each.watermarks.due(pool.domains()[domain].used_bytes(), began_ns);
      if (!level) continue;
      each.leader = platform::current_thread_id();
      ++each.statistics.watermark_passes;
    }
    try {
      Ledger ledger;
      const ThreadFrame frame(this);
      Ladder(*this, request, domain, Clock::now() + options.pressure_budget, ledger)
          .pass(*level, 0);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
      // The allocation has succeeded; the mark will be crossed again.
    }
    const Locked lock(*this);
    const std::uint64_t now_ns = platform::monotonic_ns();
    each.watermarks.note_pass(pool.domains()[domain].used_bytes(), now_ns - began_ns, now_ns);
    each.leader = 0;
    wake_first(domain);
  }
}

}  // namespace fallow::device::detail
