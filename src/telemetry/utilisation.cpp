#include "telemetry/utilisation.h"

#include <algorithm>
#include <tuple>

namespace fallow::telemetry {
namespace {

// How long the pauses before a moment were; asked for moments that do not decrease.
class PausedBefore {
 public:
  explicit PausedBefore(const std::vector<TimeSpan>& pauses) : pauses_(pauses) {}

  std::int64_t operator()(std::int64_t moment) {
    for (; next_ < pauses_.size() && pauses_[next_].end_ns <= moment; ++next_) {
      whole_ += pauses_[next_].end_ns - pauses_[next_].begin_ns;
    }
    if (next_ == pauses_.size()) return whole_;
    return whole_ + std::max<std::int64_t>(moment - pauses_[next_].begin_ns, 0);
  }

 private:
  const std::vector<TimeSpan>& pauses_;
  std::size_t next_ = 0;
  std::int64_t whole_ = 0;
};

// The longest pause in windows that begin where `begin_of` says for each pause.
template <class BeginOf>
std::int64_t longest_paused(const std::vector<TimeSpan>& pauses, std::int64_t last_begin,
                            std::int64_t window, BeginOf&& begin_of) {
  PausedBefore before(pauses);
  PausedBefore until_end(pauses);
  std::int64_t longest = 0;
  for (const TimeSpan& pause : pauses) {
    const std::int64_t begin = std::clamp<std::int64_t>(begin_of(pause), 0, last_begin);
    longest = std::max(longest, until_end(begin + window) - before(begin));
  }
  return longest;
}

}  // namespace

std::vector<TimeSpan> disjoint(std::vector<TimeSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const TimeSpan& a, const TimeSpan& b) {
    return std::tie(a.begin_ns, a.end_ns) < std::tie(b.begin_ns, b.end_ns);
  });
  std::vector<TimeSpan> merged;
  for (const TimeSpan& span : spans) {
    if (!merged.empty() && span.begin_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, span.end_ns);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

double minimum_utilisation(const std::vector<TimeSpan>& pauses, std::int64_t length_ns,
                           std::int64_t window_ns) {
  // A window that moves holds more of the pauses until its beginning enters one or its end leaves
  // one: these are all that can hold most.
  const std::int64_t last_begin = length_ns - window_ns;
  const std::int64_t paused = std::max(
      longest_paused(pauses, last_begin, window_ns,
                     [](const TimeSpan& pause) { return pause.begin_ns; }),
      longest_paused(pauses, last_begin, window_ns,
                     [window_ns](const TimeSpan& pause) { return pause.end_ns - window_ns; }));
  return static_cast<double>(window_ns - paused) / static_cast<double>(window_ns);
}

}  // namespace fallow::telemetry
