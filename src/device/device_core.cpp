#include "device/device_core.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "device/callback_check.h"
#include "device/device_registry.h"
#include "fallow/fault_injector.h"
#include "platform/clock.h"
#include "platform/thread_id.h"

namespace fallow::device::detail {

namespace {

[[noreturn]] void refuse_forked() {
  throw DeviceUnusable("fallow: this device was created before a fork, in the parent process");
}

std::uint64_t damper_bytes(const DeviceOptions& options, std::uint64_t capacity) {
  return options.damper_bytes != 0 ? options.damper_bytes
                                   : std::max<std::uint64_t>(capacity / 64, 1);
}

}  // namespace

DeviceCore::DeviceCore(std::shared_ptr<DeviceBackend> given_backend,
                       const DeviceOptions& given_options)
    : backend(std::move(given_backend)),
      options(given_options),
      pool(options, backend->domains()),
      faults_(backend->faults()) {
  for (const DomainMemory& domain : pool.domains()) {
    const std::uint64_t capacity = domain.info.capacity_bytes;
    pressure.push_back(
        {.queue = {},
         .resting = {},
         .damper = Damper(static_cast<std::uint64_t>(options.damper_interval.count()),
                          static_cast<std::uint64_t>(options.pressure_budget.count()) / 2,
                          damper_bytes(options, capacity)),
         .watermarks = Watermarks(capacity, options.soft_watermark, options.hard_watermark,
                                  options.watermark_share),
         .statistics = {}});
  }
  valid_domains_ = ~std::uint64_t{0} >> (kMaxDomains - pressure.size());
  watermarks_on_ = options.soft_watermark > 0 || options.hard_watermark > 0;
  choose_region_sizes();
  // Last: a fork handler may call from now on.
  number_ = register_device(this);
}

DeviceCore::~DeviceCore() {
  unregister_device(this);
  responders->close();
  observers->close();
  sinks->close();
  // The parent's device is none of the child's business.
  if (forked()) return;
  for (StreamFree* item = pending_streams_.take_all(); item != nullptr;) {
    const std::unique_ptr<StreamFree> owned(item);
    item = item->next;
  }
  for (const DomainMemory& domain : pool.domains()) {
    for (const auto& list : domain.regions) {
      for (const Region* const region : list) give_to_backend(*region);
    }
    if (domain.emergency != nullptr) give_to_backend(*domain.emergency);
  }
}

void DeviceCore::Locked::wait() {
  detached_.emplace();
  core_.mutex.lock();
}

void DeviceCore::commit_after_unlock() noexcept {
  while (anything_pending() && mutex.try_lock()) {
    commit_pending();
    mutex.unlock();
  }
}

void DeviceCore::commit_pending() noexcept {
  for (Block* block = pending_.take_all(); block != nullptr;) {
    Block* const next = block->pending_next;
    ++frees_;
    pool.give_back(block);
    block = next;
  }
  for (StreamFree* item = pending_streams_.take_all(); item != nullptr;) {
    StreamFree* const next = item->next;
    ++frees_;
    pool.count_in_flight(*item->head);
    in_flight.push(item);
    item = next;
  }
  if (waiting_ != 0) serve_waiters();
}

Allocation DeviceCore::handle_of(const Block& head) const noexcept {
  const std::uint64_t ticket = head.ticket.load(std::memory_order_relaxed);
  return AllocationAccess::make(ticket >> Block::kStateBits, head.slot, number_);
}

bool DeviceCore::check(const AllocationRequest& asked, PoolRequest& request) const {
  const std::uint64_t set = asked.placement.domain_set();
  if (set == 0 || (set & ~valid_domains_) != 0) {
    throw UsageError("fallow: the placement names a domain that the device does not have");
  }
  const std::uint64_t granule = pool.granule();
  if (asked.alignment != 0 && !std::has_single_bit(asked.alignment)) {
    throw UsageError("fallow: the alignment of device memory must be a power of two");
  }
  if (asked.bytes == 0) return false;
  request.alignment = std::max<std::uint64_t>(asked.alignment, granule);
  request.bytes = (asked.bytes + granule - 1) & ~(granule - 1);
  request.requested = asked.bytes;
  request.type = asked.type;
  request.domain_set = set;
  // Without a population count: older processors need a function for it.
  request.domains = (set & (set - 1)) == 0 ? 1 : static_cast<std::uint32_t>(std::popcount(set));
  const std::uint64_t largest = largest_possible(request);
  // Capacities are far from the end of the range, sizes and alignments need not be.
  const std::uint64_t most = largest * request.domains;
  const bool fits = asked.bytes <= request.bytes && request.bytes <= most &&
                    request.chunk_bytes() <= largest && request.alignment <= largest;
  if (!fits) throw RequestTooLarge(asked.bytes, asked.alignment, most);
  return true;
}

bool DeviceCore::nobody_waits(const PoolRequest& request, DomainId& domain) const noexcept {
  if (waiting_ == 0) return true;
  for (std::uint64_t set = request.domain_set; set != 0; set &= set - 1) {
    domain = static_cast<DomainId>(std::countr_zero(set));
    if (!pressure[domain].queue.empty()) return false;
  }
  return true;
}

std::optional<Allocation> DeviceCore::allocate(const AllocationRequest& asked, bool may_wait) {
  note_device_call();
  if (forked()) refuse_forked();
  PoolRequest request;
  if (!check(asked, request)) return Allocation();
  if (faults_ != nullptr && faults_->fails_allocation(request.bytes)) {
    if (!may_wait) return std::nullopt;
    OutOfMemoryReport report;
    report.request = asked;
    report.given_up = GivenUp::kInjected;
    fail(std::move(report));
  }
  Pool::Placed placed;
  bool crossed = false;
  {
    const Locked lock(*this);
    if (nobody_waits(request, placed.lacking)) placed = pool.place(request, false);
    if (placed.head != nullptr) crossed = watermarks_on_ && watermark_crossed(request);
  }
  if (placed.head == nullptr) {
    placed.head = may_wait ? wait_for_room(asked, request, placed.lacking)
                           : place_or_grow(request, placed.lacking, false);
    if (placed.head == nullptr) return std::nullopt;
  }
  const Allocation allocation = handle_of(*placed.head);
  if (crossed) relieve(request);
  trace(TraceEvent::Action::kAllocate, allocation.number(), asked.bytes, 0);
  return allocation;
}

Block* DeviceCore::place_or_grow(const PoolRequest& request, DomainId& lacking, bool pass_by) {
  const BlockingScope detached;
  do {
    const Locked lock(*this);  // only for the search
    if (!pass_by && !nobody_waits(request, lacking)) return nullptr;
    const Pool::Placed placed = pool.place(request, true);
    if (placed.head != nullptr) return placed.head;
    lacking = placed.lacking;
  } while (grow(lacking, request.type, request.chunk_bytes()));
  return nullptr;
}

Block& DeviceCore::resolve(Allocation allocation, const char* what) const {
  if (forked()) refuse_forked();
  Block* const block = AllocationAccess::device(allocation) == number_
                           ? pool.blocks().find(AllocationAccess::slot(allocation))
                           : nullptr;
  if (block == nullptr || block->ticket.load(std::memory_order_acquire) !=
                              Block::make_ticket(allocation.number(), BlockState::kLive)) {
    throw StaleAllocation(allocation.number(), what);
  }
  return *block;
}

Block& DeviceCore::claim(Allocation allocation) {
  Block* const block = AllocationAccess::device(allocation) == number_
                           ? pool.blocks().find(AllocationAccess::slot(allocation))
                           : nullptr;
  std::uint64_t expected = Block::make_ticket(allocation.number(), BlockState::kLive);
  const std::uint64_t released = Block::make_ticket(allocation.number(), BlockState::kReleased);
  if (block == nullptr ||
      !block->ticket.compare_exchange_strong(expected, released, std::memory_order_acq_rel)) {
    throw StaleAllocation(allocation.number(), "freed");
  }
  return *block;
}

void DeviceCore::free(Allocation allocation, std::span<const StreamId> streams) {
  note_device_call();
  if (!allocation || forked()) return;
  if (!streams.empty()) return free_with_streams(allocation, streams);
  Block& block = claim(allocation);
  trace(TraceEvent::Action::kFree, allocation.number(), block.requested, 0);
  if (mutex.try_lock()) {
    ++frees_;
    pool.give_back(&block);
    serve_and_unlock();
    return;
  }
  deferred_frees_.fetch_add(1, std::memory_order_relaxed);
  pending_.push(&block);
  // The holder may have gone before it could see the block.
  if (mutex.try_lock()) serve_and_unlock();
}

void DeviceCore::free_with_streams(Allocation allocation, std::span<const StreamId> streams) {
  if (streams.size() > StreamFree::kMostPoints) {
    throw UsageError("fallow: a free can wait for at most four streams");
  }
  auto item = std::make_unique<StreamFree>();
  item->head = &claim(allocation);
  for (const StreamId stream : streams) {
    item->points[item->point_count++] = {stream, backend->record(stream)};
  }
  trace(TraceEvent::Action::kFree, allocation.number(), item->head->requested, streams.front());
  pending_streams_.push(item.release());
  if (mutex.try_lock()) {
    serve_and_unlock();
  } else {
    deferred_frees_.fetch_add(1, std::memory_order_relaxed);
  }
}

void DeviceCore::serve_and_unlock() noexcept {
  if (anything_pending()) {
    commit_pending();
  } else if (waiting_ != 0) {
    serve_waiters();
  }
  unlock();
}

void DeviceCore::poll_streams() noexcept {
  StreamProgress progress;
  {
    const Locked lock(*this);
    if (in_flight.empty()) return;
    progress = in_flight.streams();
  }
  for (std::size_t i = 0; i < progress.count; ++i) {
    progress.points[i].number = backend->completed(progress.points[i].stream);
  }
  const Locked lock(*this);
  for (StreamFree* item = in_flight.take_done(progress); item != nullptr;) {
    const std::unique_ptr<StreamFree> owned(item);
    pool.give_back(item->head, true);
    item = item->next;
  }
  if (waiting_ != 0) serve_waiters();
}

void DeviceCore::tell_sinks(TraceEvent::Action action, std::uint64_t allocation,
                            std::uint64_t bytes, StreamId stream) noexcept {
  if (ThreadFrame::depth(sinks.get()) != 0) return;
  const ThreadFrame telling(sinks.get());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const TraceEvent event{
      action,
      platform::current_thread_id(),
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()),
      allocation,
      bytes,
      stream};
  sinks->each([&event](auto& entry) { entry.target->on_event(event); });
}

void DeviceCore::prepare_fork() {
  // Several devices have locks of equal ranks, so they are taken past the rank check.
  responders->prepare_fork();
  observers->prepare_fork();
  sinks->prepare_fork();
  mutex.native().lock();
}

void DeviceCore::parent_after_fork() noexcept {
  mutex.native().unlock();
  sinks->parent_after_fork();
  observers->parent_after_fork();
  responders->parent_after_fork();
}

void DeviceCore::child_after_fork() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  // The threads that wait, on stacks of their own, do not exist here.
  for (DomainPressure& each : pressure) {
    each.queue.abandon();
    each.resting.abandon();
  }
  waiting_ = 0;
  pending_.abandon();
  pending_streams_.abandon();
  mutex.native().unlock();
  sinks->child_after_fork();
  observers->child_after_fork();
  responders->child_after_fork();
}

}  // namespace fallow::device::detail
