#include "profile/analysis/survival.h"

#include <algorithm>
#include <unordered_map>

namespace fallow::profile {
namespace {

Lifetime life_of(const Sample& sample) {
  const bool ended = sample.fate != Fate::kLive && sample.fate != Fate::kUnknown;
  return {std::max<std::int64_t>(sample.fate_ns - sample.time_ns, 0),
          static_cast<double>(sample.weight), ended};
}

}  // namespace

std::optional<std::int64_t> median_age(std::vector<Lifetime> lives) {
  std::sort(lives.begin(), lives.end(),
            [](const Lifetime& a, const Lifetime& b) { return a.age_ns < b.age_ns; });
  double watched = 0;
  for (const Lifetime& life : lives) watched += life.weight;
  double alive = 1;
  for (std::size_t i = 0; i < lives.size();) {
    const std::int64_t age = lives[i].age_ns;
    double died = 0;
    double leaving = 0;
    for (; i < lives.size() && lives[i].age_ns == age; ++i) {
      leaving += lives[i].weight;
      if (lives[i].ended) died += lives[i].weight;
    }
    if (watched > 0) alive *= 1 - died / watched;
    if (alive <= 0.5) return age;
    watched -= leaving;
  }
  return std::nullopt;
}

std::vector<SurvivalRow> survival_of(const Profile& profile) {
  std::unordered_map<std::uint32_t, std::pair<SurvivalRow, std::vector<Lifetime>>> by_type;
  for (const Sample& sample : profile.recording.samples) {
    auto& [row, lives] = by_type[sample.type];
    row.type = sample.type;
    row.bytes.add(profile, sample);
    lives.push_back(life_of(sample));
    row.oldest_ns = std::max(row.oldest_ns, lives.back().age_ns);
  }
  std::vector<SurvivalRow> rows;
  for (auto& [type, entry] : by_type) {
    entry.first.median_age_ns = median_age(std::move(entry.second));
    rows.push_back(std::move(entry.first));
  }
  std::sort(rows.begin(), rows.end(), [](const SurvivalRow& a, const SurvivalRow& b) {
    return a.bytes.allocated.bytes() > b.bytes.allocated.bytes();
  });
  return rows;
}

Sediment sediment_of(const Profile& profile, std::size_t layers, std::size_t columns) {
  Sediment sediment;
  const double end = std::max<double>(static_cast<double>(profile.recording.end_ns), 1);
  for (std::size_t i = 0; i < columns; ++i) {
    sediment.times_ns.push_back(
        static_cast<std::int64_t>(end * static_cast<double>(i + 1) / static_cast<double>(columns)));
  }
  for (std::size_t i = 0; i < layers; ++i) {
    sediment.layer_begin_ns.push_back(
        static_cast<std::int64_t>(end * static_cast<double>(i) / static_cast<double>(layers)));
  }
  sediment.live_bytes.assign(layers, std::vector<double>(columns));
  const auto slot = [end](std::int64_t time, std::size_t count) {
    const double part = std::clamp(static_cast<double>(time) / end, 0.0, 1.0);
    return std::min(static_cast<std::size_t>(part * static_cast<double>(count)), count - 1);
  };
  for (const Sample& sample : profile.recording.samples) {
    if (sample.fate == Fate::kUnknown) continue;
    std::vector<double>& layer = sediment.live_bytes[slot(sample.time_ns, layers)];
    layer[slot(sample.time_ns, columns)] += static_cast<double>(sample.weight);
    if (sample.fate == Fate::kLive) continue;
    // Gone by the end of the column in which it dies.
    layer[slot(sample.fate_ns, columns)] -= static_cast<double>(sample.weight);
  }
  for (std::vector<double>& layer : sediment.live_bytes) {
    for (std::size_t i = 1; i < columns; ++i) layer[i] += layer[i - 1];
  }
  return sediment;
}

}  // namespace fallow::profile
