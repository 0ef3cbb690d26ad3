#include "profile/analysis/leaks.h"

#include <algorithm>
#include <array>

namespace fallow::profile {
namespace {

constexpr std::size_t kParts = 8;
constexpr std::size_t kRisingParts = 6;  // of the seven after the first

struct Growth {
  std::array<double, kParts> change{};  // of live bytes, in each part
  Tally born;                           // in the second half, and alive at the end
  Tally died;                           // in the second half, born before it
};

bool is_watched(const Sample& sample) {
  if (sample.fate == Fate::kUnknown || sample.fate == Fate::kDiedYoung) return false;
  const bool managed = sample.route == SampleRoute::kNursery || sample.route == SampleRoute::kLarge;
  return sample.tenured || !managed;
}

class Watch {
 public:
  explicit Watch(const Profile& profile)
      : profile_(profile), end_ns_(std::max<std::int64_t>(profile.recording.end_ns, 1)) {}

  void add(Growth& growth, const Sample& sample) const {
    if (!is_watched(sample)) return;
    const bool alive = sample.fate == Fate::kLive;
    growth.change[part_of(sample.time_ns)] += static_cast<double>(sample.weight);
    if (!alive) growth.change[part_of(sample.fate_ns)] -= static_cast<double>(sample.weight);
    const bool born_late = part_of(sample.time_ns) >= kParts / 2;
    const bool died_late = !alive && part_of(sample.fate_ns) >= kParts / 2;
    if (born_late && alive) count(growth.born, sample);
    if (!born_late && died_late) count(growth.died, sample);
  }

 private:
  std::size_t part_of(std::int64_t time_ns) const {
    const double part = static_cast<double>(time_ns) / static_cast<double>(end_ns_);
    return static_cast<std::size_t>(std::clamp(part * kParts, 0.0, kParts - 1.0));
  }
  void count(Tally& tally, const Sample& sample) const {
    tally.add(sample.bytes, profile_.recording.interval_of(sample), sample.weight, sample.objects);
  }

  const Profile& profile_;
  std::int64_t end_ns_;
};

bool keeps_rising(const Growth& growth) {
  const auto rising = std::count_if(growth.change.begin() + 1, growth.change.end(),
                                    [](double change) { return change > 0; });
  return static_cast<std::size_t>(rising) >= kRisingParts;
}

}  // namespace

std::vector<Leak> leaks_of(const Profile& profile) {
  const SiteIndex index = index_sites(profile);
  std::vector<Growth> growths(index.sites.size());
  const Watch watch(profile);
  for (std::size_t i = 0; i < profile.recording.samples.size(); ++i) {
    watch.add(growths[index.site_of_sample[i]], profile.recording.samples[i]);
  }
  std::vector<Leak> leaks;
  const std::uint64_t interval = profile.interval_bytes();
  for (std::size_t i = 0; i < growths.size(); ++i) {
    const Growth& growth = growths[i];
    if (!keeps_rising(growth)) continue;
    const Interval range = difference_interval(growth.died, growth.born, interval, interval);
    if (range.low <= 0) continue;
    const double bytes = growth.born.bytes() - growth.died.bytes();
    const double half = std::max(profile.seconds() / 2, 1e-9);
    leaks.push_back({index.sites[i], bytes, range, bytes / half});
  }
  std::sort(leaks.begin(), leaks.end(),
            [](const Leak& a, const Leak& b) { return a.growth_bytes > b.growth_bytes; });
  return leaks;
}

}  // namespace fallow::profile
