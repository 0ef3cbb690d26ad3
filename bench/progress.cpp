#include "bench/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fallow::bench {

namespace {

bool can_rewrite_lines() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

ProgressLine::ProgressLine() : active_(can_rewrite_lines()) {}

void ProgressLine::show(std::size_t done, std::size_t all, const std::string& row) {
  if (!active_) return;
  fmt::print(stderr, "\r\033[K{}/{} {}", done + 1, all, row);
  std::fflush(stderr);
  visible_ = true;
}

void ProgressLine::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace fallow::bench
