#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fallow/events.h"
#include "fallow/heap.h"
#include "fallow/heap_watcher.h"
#include "fallow/sample.h"
#include "profile/record/recording.h"

namespace fallow::profile {

/// Passes on what one heap tells, with the heap's number in the recording.
class HeapFeed final : public SampleSink, public EventListener {
 public:
  explicit HeapFeed(std::uint64_t number) noexcept : number_(number) {}
  SampleId on_sample(const AllocationSample& sample) noexcept override;
  void on_minor(std::uint64_t gc, std::span<const SampleFate> fates) noexcept override;
  void on_died(std::uint64_t gc, std::span<const SampleId> ids) noexcept override;
  void on_untracked(std::span<const SampleId> ids) noexcept override;
  void on_minor(const MinorEvent& event) override;
  void on_step(const StepEvent& event) override;
  void on_full(const FullEvent& event) override;

 private:
  std::uint64_t number_;
};

/// Calls `visit` for each heap that exists, one at a time; meanwhile none comes or goes, and this
/// thread counts as parked in all. Takes the lock of the heaps' watchers.
void visit_heaps(const std::function<void(Heap&)>& visit);

/// The heaps that take part in the recording of the process: those that exist and come while it
/// runs, or those that are attached one by one.
///
/// Everything happens under the lock of the heaps' watchers: whoever waits for that lock counts as
/// parked in its heaps, and does not keep them from the stop that sampling needs.
class RecordedHeaps final : public HeapWatcher {
 public:
  static RecordedHeaps& instance() noexcept;

  /// Around a recording, under its control lock.
  void begin(bool all_heaps);
  void end() noexcept;

  /// As Recorder::attach.
  void attach(Heap& heap);
  void detach(Heap& heap) noexcept;

  void on_created(Heap& heap) noexcept override;
  void on_destroying(Heap& heap) noexcept override;

 private:
  struct Member {
    Heap* heap;
    std::uint64_t number;
    std::size_t interval_bytes;
    std::unique_ptr<HeapFeed> feed;
  };

  RecordedHeaps();
  ~RecordedHeaps() override = default;
  Member* find(const Heap& heap) noexcept;
  void add(Heap& heap);
  void remove(const Heap& heap) noexcept;
  void set_interval(std::size_t bytes);
  std::vector<HeapLevel> levels();

  std::vector<Member> members_;
  std::uint64_t last_number_ = 0;
  bool takes_all_ = false;
};

}  // namespace fallow::profile
