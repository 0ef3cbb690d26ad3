#include "tools/fallow/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/clock.h"

namespace fallow::tool {
namespace {

constexpr std::uint64_t kIntervalNs = 100'000'000;
constexpr std::size_t kBarWidth = 30;

}  // namespace

std::string progress_bar(std::uint64_t done, std::uint64_t total) {
  const double part =
      total == 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  return fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'),
                     std::string(kBarWidth - filled, '-'), part * 100);
}

// Short work shows nothing at all.
Progress::Progress() : next_ns_(platform::monotonic_ns() + kIntervalNs) {}

bool Progress::is_due() const { return line_.active() && platform::monotonic_ns() >= next_ns_; }

void Progress::show(std::string_view label, std::uint64_t done, std::uint64_t total) {
  if (is_due()) write(fmt::format("{:<24} {}", label, progress_bar(done, total)));
}

void Progress::show(std::string_view label, std::string_view state) {
  if (is_due()) write(fmt::format("{:<24} {}", label, state));
}

void Progress::write(std::string_view line) {
  line_.write(line);
  next_ns_ = platform::monotonic_ns() + kIntervalNs;
}

}  // namespace fallow::tool
