#include "telemetry/log_sink.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "platform/clock.h"
#include "platform/environment.h"
#include "platform/fork_handlers.h"
#include "platform/output_file.h"
#include "platform/ranked_mutex.h"
#include "telemetry/log.h"

namespace fallow::telemetry {
namespace detail {

constinit std::atomic<bool> log_maybe_on{true};

namespace {

constexpr const char* kVariable = "FALLOW_LOG";

// nullptr: to be found out at the next use.
constinit std::atomic<const ActiveLog*> in_force{nullptr};

struct Sink {
  platform::RankedMutex mutex{platform::LockRank::kLog, "log"};
  // All below is guarded by the mutex.
  platform::OutputFile file;
  std::string error;
  std::vector<std::unique_ptr<const ActiveLog>> kept;
  const ActiveLog off;
  const ActiveLog* reopen = nullptr;  // in a fork child: what to open at the next use

  Sink();
};

// Never destroyed: threads may log while the program ends.
Sink& sink() {
  static Sink* const instance = new Sink();
  return *instance;
}

void lock_for_fork() { sink().mutex.lock(); }

void unlock_after_fork() { sink().mutex.unlock(); }

void put_in_force(const ActiveLog* log, bool maybe_on) noexcept {
  in_force.store(log, std::memory_order_release);
  log_maybe_on.store(maybe_on, std::memory_order_relaxed);
}

// The file belongs to the parent.
void leave_log_of_parent() {
  Sink& s = sink();
  const ActiveLog* const log = in_force.load(std::memory_order_relaxed);
  if (log != nullptr && log != &s.off) {
    s.file.close();
    if (log->selection.file_per_process()) {
      s.reopen = log;
      put_in_force(nullptr, true);
    } else {
      put_in_force(&s.off, false);
    }
  }
  s.mutex.unlock();
}

Sink::Sink() {
  platform::on_fork(lock_for_fork, unlock_after_fork, leave_log_of_parent,
                    platform::LockRank::kLog);
}

bool switch_off(Sink& s, std::string why) {
  s.file.close();
  s.error = std::move(why);
  put_in_force(&s.off, false);
  return s.error.empty();
}

std::string clock_section(const ActiveLog& log) {
  char lines[96];
  std::snprintf(lines, sizeof lines, "ticks per second: %.0f\nclock: %s\n",
                platform::ticks_per_second(), platform::ticks_source());
  std::string text;
  append_section_start(text, log, "gc-clock");
  text += lines;
  append_section_end(text, log, "gc-clock");
  return text;
}

// Call with the mutex held.
bool install(Sink& s, LogSelection selection) {
  if (selection.nothing()) return switch_off(s, {});
  auto log = std::make_unique<ActiveLog>();
  s.kept.reserve(s.kept.size() + 1);
  s.error.clear();
  if (selection.file_pattern() == "-") {
    s.file.use_standard_error();
    log->colored = s.file.is_terminal();
  } else {
    std::string why = s.file.open(selection.file_name());
    if (!why.empty()) return switch_off(s, std::move(why));
  }
  log->selection = std::move(selection);
  std::string why = s.file.write(clock_section(*log));
  if (!why.empty()) return switch_off(s, std::move(why));
  put_in_force(log.get(), true);
  s.kept.push_back(std::move(log));
  return true;
}

bool install_from_environment(Sink& s) {
  const std::optional<std::string> value = platform::environment(kVariable);
  if (!value) return switch_off(s, {});
  LogSelection selection(*value);
  // Kept only where each process gets a file of its own.
  if (!selection.file_per_process()) platform::unset_environment(kVariable);
  return install(s, std::move(selection));
}

const ActiveLog& find_out() noexcept {
  Sink& s = sink();
  const std::lock_guard<platform::RankedMutex> lock(s.mutex);
  if (in_force.load(std::memory_order_relaxed) == nullptr) {
    try {
      if (const ActiveLog* const again = std::exchange(s.reopen, nullptr)) {
        install(s, again->selection);
      } else {
        install_from_environment(s);
      }
    } catch (...) {  // out of memory
      s.file.close();
      put_in_force(&s.off, false);
    }
  }
  return *in_force.load(std::memory_order_relaxed);
}

void append_mark(std::string& text, const ActiveLog& log, const char* color,
                 std::string_view before, std::string_view category, std::string_view after) {
  char stamp[32];
  std::snprintf(stamp, sizeof stamp, "[%llx] ", static_cast<unsigned long long>(platform::ticks()));
  if (log.colored) text += color;
  text += stamp;
  text += before;
  text += category;
  text += after;
  text += '\n';
  if (log.colored) text += "\033[0m";
}

}  // namespace

const ActiveLog& active_log() noexcept {
  const ActiveLog* const log = in_force.load(std::memory_order_acquire);
  if (log == nullptr) [[unlikely]] {
    return find_out();
  }
  return *log;
}

void write_log(const ActiveLog& log, std::string_view text) noexcept {
  Sink& s = sink();
  const std::lock_guard<platform::RankedMutex> lock(s.mutex);
  if (in_force.load(std::memory_order_relaxed) != &log) return;
  try {
    std::string why = s.file.write(text);
    if (!why.empty()) switch_off(s, std::move(why));
  } catch (...) {  // out of memory while describing a failure
    s.file.close();
    put_in_force(&s.off, false);
  }
}

void append_section_start(std::string& text, const ActiveLog& log, std::string_view category) {
  append_mark(text, log, "\033[1m\033[31m", "{", category, "");
}

void append_section_end(std::string& text, const ActiveLog& log, std::string_view category) {
  append_mark(text, log, "\033[31m", "", category, "}");
}

bool log_enabled_slow(const char* category) noexcept {
  return active_log().selection.wants_section(category);
}

}  // namespace detail

bool log_configure(std::string_view specification, std::string* error) {
  LogSelection selection(specification);
  detail::Sink& s = detail::sink();
  const std::lock_guard<platform::RankedMutex> lock(s.mutex);
  s.reopen = nullptr;
  const bool done = detail::install(s, std::move(selection));
  if (error != nullptr) *error = s.error;
  return done;
}

bool log_configure_from_environment() {
  detail::active_log();
  return log_error().empty();
}

std::string log_error() {
  detail::Sink& s = detail::sink();
  const std::lock_guard<platform::RankedMutex> lock(s.mutex);
  return s.error;
}

}  // namespace fallow::telemetry
