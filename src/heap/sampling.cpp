#include "heap/sampling.h"

#include <algorithm>

#include "fallow/type.h"
#include "heap/address_space.h"
#include "heap/large_space.h"
#include "platform/split_mix.h"

namespace fallow::detail {

namespace {

std::string_view type_name(const Object* object) noexcept {
  const TypeDescriptor* const type = ObjectAccess::descriptor(object);
  // No header was written: the constructor has thrown.
  return type == nullptr ? std::string_view() : std::string_view(type->name);
}

/// Where a young object is after copying; nullptr when it died.
Object* survivor(Object* object) noexcept {
  if (!in_nursery(object)) return LargeHeader::of(object)->reached ? object : nullptr;
  const std::uintptr_t header = ObjectAccess::header(object);
  if ((header & ObjectAccess::kForwardedBit) == 0) return nullptr;
  return reinterpret_cast<Object*>(header & ~ObjectAccess::kForwardedBit);
}

}  // namespace

void Sampling::start(SampleSink& sink, const SamplingOptions& options) noexcept {
  sink_ = &sink;
  options_ = options;
  started_ = ++generation_;
}

void Sampling::set_interval(std::size_t bytes) noexcept {
  options_.interval_bytes = bytes;
  ++generation_;
}

void Sampling::stop() noexcept {
  sink_ = nullptr;
  options_.interval_bytes = 0;
  ++generation_;
  old_.clear();
  begin_cycle();
}

void Sampling::adopt(MutatorSamples& samples, std::uint64_t mutator_number,
                     std::uintptr_t free) noexcept {
  if (samples.generation < started_) {
    samples.sampler = telemetry::ByteSampler(
        platform::mix_bits(options_.seed ^ platform::mix_bits(mutator_number + 1)));
  }
  samples.sampler.set_interval(options_.interval_bytes);
  samples.generation = generation_;
  samples.draw(free);
}

void Sampling::take(MutatorSamples& samples, std::uintptr_t object, std::size_t bytes,
                    SampleRoute route) noexcept {
  auto* const sampled = reinterpret_cast<Object*>(object);
  // Should the constructor throw, nothing else writes it.
  ObjectAccess::set_header(sampled, 0);
  const SampleId id = sink_->on_sample({bytes, samples.sampler.interval_bytes(), route});
  if (id != 0 && !samples.young.push({sampled, id})) sink_->on_untracked({&id, 1});
}

void Sampling::lose(const PushBuffer<SampledObject>& samples) noexcept {
  if (sink_ == nullptr) return;
  for (const SampledObject& sample : samples) sink_->on_untracked({&sample.id, 1});
}

template <class Judge>
void Sampling::settle_all(PushBuffer<SampledObject>& young, std::uint64_t gc,
                          Judge&& judge) noexcept {
  std::array<SampleFate, kBatch> fates;
  for (std::size_t first = 0; first < young.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, young.size() - first);
    for (std::size_t i = 0; i < count; ++i) fates[i] = judge(young[first + i]);
    sink_->on_minor(gc, {fates.data(), count});
  }
  young.clear();
}

void Sampling::settle(PushBuffer<SampledObject>& young, std::uint64_t gc) noexcept {
  settle_all(young, gc, [this](const SampledObject& sample) -> SampleFate {
    Object* const now = survivor(sample.object);
    if (now == nullptr) {
      return {sample.id, SampleFate::Outcome::kDied, type_name(sample.object)};
    }
    if (!old_.push({now, sample.id})) sink_->on_untracked({&sample.id, 1});
    return {sample.id, SampleFate::Outcome::kSurvived, type_name(now)};
  });
}

void Sampling::settle_at_end(PushBuffer<SampledObject>& young, std::uint64_t gc) noexcept {
  settle_all(young, gc, [](const SampledObject& sample) -> SampleFate {
    return {sample.id, SampleFate::Outcome::kStillYoung, type_name(sample.object)};
  });
}

bool Sampling::find_dead(const FullCycle& cycle, std::size_t count, std::uint64_t gc) noexcept {
  std::array<SampleId, kBatch> dead;
  std::size_t found = 0;
  for (count = std::min({count, kBatch, old_.size() - checked_}); count != 0; --count) {
    const SampledObject sample = old_[checked_++];
    if (cycle.is_live(sample.object)) {
      old_[kept_++] = sample;
    } else {
      dead[found++] = sample.id;
    }
  }
  if (found != 0) sink_->on_died(gc, {dead.data(), found});
  // What is added from now on is live.
  if (checked_ != old_.size()) return true;
  old_.resize_down(kept_);
  begin_cycle();
  return false;
}

}  // namespace fallow::detail
