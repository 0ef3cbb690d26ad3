#include <utility>

#include "fallow/profile.h"
#include "profile/record/control_lock.h"
#include "profile/record/recorded_heaps.h"
#include "profile/record/recorder_options.h"
#include "profile/record/recording.h"

namespace fallow::profile {

struct Recorder::Impl {
  RecorderOptions options;
  bool started = false;    // the recording of the process is this one's
  bool has_begun = false;  // ever
};

Recorder::Recorder(RecorderOptions options) : impl_(std::make_unique<Impl>()) {
  check(options);
  impl_->options = std::move(options);
}

Recorder::~Recorder() { stop(); }

void Recorder::start() {
  Recording& recording = Recording::instance();
  const ControlLock lock;
  recording.start(impl_->options);
  RecordedHeaps::instance().begin(impl_->options.all_heaps);
  impl_->started = impl_->has_begun = true;
}

void Recorder::stop() {
  Recording& recording = Recording::instance();
  const ControlLock lock;
  if (!impl_->started) return;
  RecordedHeaps::instance().end();
  recording.stop(EndReason::kStopped);
  impl_->started = false;
}

void Recorder::flush() { Recording::instance().flush(); }

void Recorder::attach(Heap& heap) { RecordedHeaps::instance().attach(heap); }

void Recorder::detach(Heap& heap) { RecordedHeaps::instance().detach(heap); }

RecorderStatus Recorder::status() const {
  return impl_->has_begun ? Recording::instance().status() : RecorderStatus();
}

const RecorderOptions& Recorder::options() const noexcept { return impl_->options; }

std::size_t Recorder::interval_bytes() const noexcept {
  return Recording::instance().interval_bytes();
}

SampleId Recorder::on_sample(const AllocationSample& sample) noexcept {
  return Recording::instance().take(sample, __builtin_frame_address(0));
}

void Recorder::on_minor(std::uint64_t gc, std::span<const SampleFate> fates) noexcept {
  Recording::instance().minor(0, gc, fates);
}

void Recorder::on_died(std::uint64_t gc, std::span<const SampleId> ids) noexcept {
  Recording::instance().died(0, gc, ids);
}

void Recorder::on_untracked(std::span<const SampleId> ids) noexcept {
  Recording::instance().untracked(0, ids);
}

void Recorder::on_freed(SampleId id) noexcept {
  if (id != 0) Recording::instance().died(0, 0, {&id, 1});
}

}  // namespace fallow::profile
