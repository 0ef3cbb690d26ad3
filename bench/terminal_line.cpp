#include "bench/terminal_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "platform/environment.h"

namespace fallow::bench {

namespace {

bool can_rewrite_lines() {
  return ::isatty(STDERR_FILENO) == 1 && platform::environment("TERM").value_or("dumb") != "dumb";
}

}  // namespace

TerminalLine::TerminalLine() : active_(can_rewrite_lines()) {}

void TerminalLine::write(std::string_view text) {
  if (!active_) return;
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
  visible_ = true;
}

void TerminalLine::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace fallow::bench
