#include "profile/analysis/fates.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "profile/analysis/estimate.h"

namespace fallow::profile {
namespace {

template <class Item>
auto key_of(const Item& item) {
  return std::tie(item.stream, item.sequence);
}

bool is_death(FateRecord::Kind kind) {
  return kind == FateRecord::Kind::kDiedOld || kind == FateRecord::Kind::kFreed;
}

void apply(const FateRecord& fate, Sample& sample) {
  if (fate.type != 0) sample.type = fate.type;
  switch (fate.kind) {
    case FateRecord::Kind::kDiedYoung:
      sample.fate = Fate::kDiedYoung;
      break;
    case FateRecord::Kind::kTenured:
      sample.tenured = true;
      return;
    case FateRecord::Kind::kStillYoung:
      return;
    case FateRecord::Kind::kUntracked:
      sample.fate = Fate::kUnknown;
      break;
    case FateRecord::Kind::kDiedOld:
      sample.tenured = true;
      sample.fate = Fate::kDiedOld;
      break;
    case FateRecord::Kind::kFreed:
      sample.fate = Fate::kFreed;
      break;
  }
  // Another thread's clock reading may lie a little before the birth.
  sample.fate_ns = std::max(fate.time_ns, sample.time_ns);
}

}  // namespace

std::uint64_t join_fates(Recording& recording) {
  std::vector<Sample>& samples = recording.samples;
  std::vector<FateRecord>& fates = recording.fates;
  std::vector<std::uint32_t> order(samples.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&samples](std::uint32_t a, std::uint32_t b) {
    return key_of(samples[a]) < key_of(samples[b]);
  });
  // Of two statements about one sample, a death is the last.
  std::sort(fates.begin(), fates.end(), [](const FateRecord& a, const FateRecord& b) {
    return std::make_tuple(a.stream, a.sequence, is_death(a.kind), a.time_ns) <
           std::make_tuple(b.stream, b.sequence, is_death(b.kind), b.time_ns);
  });
  for (Sample& sample : samples) sample.fate_ns = recording.end_ns;
  std::uint64_t unmatched = 0;
  auto next = order.begin();
  for (const FateRecord& fate : fates) {
    while (next != order.end() && key_of(samples[*next]) < key_of(fate)) ++next;
    if (next != order.end() && key_of(samples[*next]) == key_of(fate)) {
      apply(fate, samples[*next]);
    } else {
      ++unmatched;
    }
  }
  fates = {};
  return unmatched;
}

void assign_weights(Recording& recording) {
  double carried = 0;
  for (Sample& sample : recording.samples) {
    const double p = inclusion_probability(sample.bytes, recording.interval_of(sample));
    sample.objects = 1 / p;
    carried += static_cast<double>(sample.bytes) / p;
    const double whole = std::floor(carried + 0.5);
    sample.weight = static_cast<std::uint64_t>(whole);
    carried -= whole;
  }
}

}  // namespace fallow::profile
