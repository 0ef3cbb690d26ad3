// A sink that keeps everything, and what follows from it.
#pragma once

#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fallow/sample.h"

namespace fallow::test {

struct SampleLog : SampleSink {
  struct Entry {
    AllocationSample sample{};
    std::string type;
    int settled = 0;
    SampleFate::Outcome outcome = SampleFate::Outcome::kDied;
    std::uint64_t minor = 0;
    int died = 0;
    std::uint64_t full = 0;
    bool untracked = false;

    [[nodiscard]] double chance() const {
      return -std::expm1(-static_cast<double>(sample.bytes) /
                         static_cast<double>(sample.interval_bytes));
    }
  };
  struct Estimate {
    double objects = 0;
    double bytes = 0;
    double objects_variance = 0;
    std::size_t samples = 0;
  };

  SampleId on_sample(const AllocationSample& sample) noexcept override {
    const std::scoped_lock lock(mutex);
    entries.emplace_back().sample = sample;
    return entries.size();
  }
  void on_minor(std::uint64_t gc, std::span<const SampleFate> fates) noexcept override {
    const std::scoped_lock lock(mutex);
    for (const SampleFate& fate : fates) {
      Entry& entry = entries[fate.id - 1];
      ++entry.settled;
      entry.outcome = fate.outcome;
      entry.type = fate.type;
      entry.minor = gc;
    }
  }
  void on_died(std::uint64_t gc, std::span<const SampleId> ids) noexcept override {
    const std::scoped_lock lock(mutex);
    for (const SampleId id : ids) {
      ++entries[id - 1].died;
      entries[id - 1].full = gc;
    }
  }
  void on_untracked(std::span<const SampleId> ids) noexcept override {
    const std::scoped_lock lock(mutex);
    for (const SampleId id : ids) entries[id - 1].untracked = true;
  }

  /// Of all samples for which `matches(entry)`.
  template <class Matches>
  [[nodiscard]] Estimate estimate(Matches&& matches) const {
    Estimate sum;
    for (const Entry& entry : entries) {
      if (!matches(entry)) continue;
      const double p = entry.chance();
      sum.objects += 1 / p;
      sum.bytes += static_cast<double>(entry.sample.bytes) / p;
      sum.objects_variance += (1 - p) / (p * p);
      ++sum.samples;
    }
    return sum;
  }
  [[nodiscard]] Estimate estimate_type(std::string_view type) const {
    return estimate([type](const Entry& entry) { return entry.type == type; });
  }

  std::mutex mutex;
  std::vector<Entry> entries;
};

}  // namespace fallow::test
