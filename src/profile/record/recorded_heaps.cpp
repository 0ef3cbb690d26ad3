#include "profile/record/recorded_heaps.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "fallow/error.h"

namespace fallow::profile {

namespace {
/// For a heap whose recording has ended by itself: practically never.
constexpr std::size_t kNoSamples = IntervalControl::kLargest;

/// What all kinds of pauses have.
template <class Event>
PauseFacts facts_of(PauseKind kind, const Event& event) noexcept {
  PauseFacts facts;
  facts.kind = kind;
  facts.wall_ns = event.wall_ns;
  facts.cpu_ns = event.cpu_ns;
  return facts;
}

}  // namespace

SampleId HeapFeed::on_sample(const AllocationSample& sample) noexcept {
  return Recording::instance().take(sample, __builtin_frame_address(0));
}

void HeapFeed::on_minor(std::uint64_t gc, std::span<const SampleFate> fates) noexcept {
  Recording::instance().minor(number_, gc, fates);
}

void HeapFeed::on_died(std::uint64_t gc, std::span<const SampleId> ids) noexcept {
  Recording::instance().died(number_, gc, ids);
}

void HeapFeed::on_untracked(std::span<const SampleId> ids) noexcept {
  Recording::instance().untracked(number_, ids);
}

void HeapFeed::on_minor(const MinorEvent& event) {
  PauseFacts facts = facts_of(PauseKind::kMinor, event);
  facts.number = event.number;
  facts.bytes_before = event.nursery_bytes;
  facts.bytes_after = event.surviving_bytes;
  Recording::instance().pause(number_, facts);
}

void HeapFeed::on_step(const StepEvent& event) {
  PauseFacts facts = facts_of(PauseKind::kStep, event);
  facts.state_before = static_cast<std::uint64_t>(event.before);
  facts.state_after = static_cast<std::uint64_t>(event.after);
  Recording::instance().pause(number_, facts);
}

void HeapFeed::on_full(const FullEvent& event) {
  PauseFacts facts = facts_of(PauseKind::kFull, event);
  facts.number = event.number;
  facts.bytes_before = event.used_bytes_before;
  facts.bytes_after = event.used_bytes_after;
  Recording::instance().pause(number_, facts);
}

RecordedHeaps& RecordedHeaps::instance() noexcept {
  static RecordedHeaps* const heaps = new RecordedHeaps;
  return *heaps;
}

void visit_heaps(const std::function<void(Heap&)>& visit) {
  class Visitor final : public HeapWatcher {
   public:
    explicit Visitor(const std::function<void(Heap&)>& to_call) : to_call_(to_call) {}
    void on_created(Heap& heap) noexcept override {
      if (!ended) to_call_(heap);
    }
    void on_destroying(Heap&) noexcept override {}
    bool ended = false;

   private:
    const std::function<void(Heap&)>& to_call_;
  };
  Visitor visitor(visit);
  watch_heaps(visitor);
  visitor.ended = true;
  unwatch_heaps(visitor);
}

RecordedHeaps::RecordedHeaps() {
  Recording::instance().on_interval([this](std::size_t bytes) { set_interval(bytes); });
  Recording::instance().on_levels([this] { return levels(); });
}

void RecordedHeaps::begin(bool all_heaps) {
  takes_all_ = all_heaps;
  watch_heaps(*this);
}

void RecordedHeaps::end() noexcept {
  unwatch_heaps(*this);
  visit_heaps([this](Heap& heap) { remove(heap); });
}

RecordedHeaps::Member* RecordedHeaps::find(const Heap& heap) noexcept {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.heap == &heap; });
  return found == members_.end() ? nullptr : &*found;
}

void RecordedHeaps::add(Heap& heap) {
  if (find(heap) != nullptr) return;
  const Recording& recording = Recording::instance();
  SamplingOptions options;
  options.interval_bytes = recording.interval_bytes();
  options.seed = recording.seed();
  if (options.interval_bytes == 0) throw UsageError("fallow: nothing is being recorded");
  members_.reserve(members_.size() + 1);
  auto feed = std::make_unique<HeapFeed>(++last_number_);
  heap.start_sampling(*feed, options);
  heap.add_listener(*feed);
  members_.push_back({&heap, last_number_, options.interval_bytes, std::move(feed)});
}

void RecordedHeaps::remove(const Heap& heap) noexcept {
  Member* const member = find(heap);
  if (member == nullptr) return;
  member->heap->remove_listener(*member->feed);
  member->heap->stop_sampling();
  std::swap(*member, members_.back());
  members_.pop_back();
}

void RecordedHeaps::attach(Heap& heap) {
  std::exception_ptr failure;
  visit_heaps([&](Heap& each) {
    if (&each != &heap) return;
    try {
      add(heap);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

void RecordedHeaps::detach(Heap& heap) noexcept {
  visit_heaps([&](Heap& each) {
    if (&each == &heap) remove(heap);
  });
}

void RecordedHeaps::on_created(Heap& heap) noexcept {
  if (!takes_all_) return;
  try {
    add(heap);
  } catch (const std::exception&) {
    return;  // its owner samples it into another sink, or there is no memory: it stays out
  }
}

void RecordedHeaps::on_destroying(Heap& heap) noexcept { remove(heap); }

void RecordedHeaps::set_interval(std::size_t bytes) {
  const std::size_t wanted = bytes == 0 ? kNoSamples : bytes;
  visit_heaps([&](Heap& heap) {
    Member* const member = find(heap);
    if (member == nullptr || member->interval_bytes == wanted) return;
    try {
      heap.set_sample_interval(wanted);
      member->interval_bytes = wanted;
    } catch (const std::exception&) {
      return;  // the program has stopped the sampling of this heap itself
    }
  });
}

std::vector<HeapLevel> RecordedHeaps::levels() {
  std::vector<HeapLevel> levels;
  visit_heaps([&](Heap& heap) {
    const Member* const member = find(heap);
    if (member == nullptr) return;
    const HeapStatistics figures = heap.statistics();
    levels.push_back({member->number, heap.usage().old + heap.usage().young, figures.committed});
  });
  return levels;
}

}  // namespace fallow::profile
