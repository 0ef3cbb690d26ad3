#include "tools/fallow/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "platform/clock.h"
#include "platform/environment.h"

namespace fallow::tool {
namespace {

constexpr std::uint64_t kIntervalNs = 100'000'000;
constexpr std::size_t kBarWidth = 30;

bool can_rewrite_lines() {
  return ::isatty(STDERR_FILENO) == 1 && platform::environment("TERM").value_or("dumb") != "dumb";
}

}  // namespace

std::string progress_bar(std::uint64_t done, std::uint64_t total) {
  const double part =
      total == 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  return fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'),
                     std::string(kBarWidth - filled, '-'), part * 100);
}

// Short work shows nothing at all.
Progress::Progress()
    : active_(can_rewrite_lines()), next_ns_(platform::monotonic_ns() + kIntervalNs) {}

bool Progress::is_due() const { return active_ && platform::monotonic_ns() >= next_ns_; }

void Progress::show(std::string_view label, std::uint64_t done, std::uint64_t total) {
  if (is_due()) write(fmt::format("{:<24} {}", label, progress_bar(done, total)));
}

void Progress::show(std::string_view label, std::string_view state) {
  if (is_due()) write(fmt::format("{:<24} {}", label, state));
}

void Progress::write(std::string_view line) {
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  visible_ = true;
  next_ns_ = platform::monotonic_ns() + kIntervalNs;
}

void Progress::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace fallow::tool
