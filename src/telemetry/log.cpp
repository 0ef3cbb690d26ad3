#include "telemetry/log.h"

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>

#include "telemetry/log_sink.h"

namespace fallow::telemetry {
namespace {

using detail::ActiveLog;

constexpr unsigned kMaxDepth = 63;
constexpr size_t kMaxPieceBytes = size_t{16} << 20;
constexpr size_t kKeptCapacity = size_t{64} << 10;

// What one thread has collected. Trivial, so that it outlives other thread-local objects, whose
// destructors may log.
struct ThreadLog {
  std::string* text;     // finished and open sections
  const ActiveLog* log;  // the configuration that `text` is for
  unsigned depth;        // open sections, silent ones included
  unsigned visible;      // open sections that have their start in `text`
  size_t owed_bytes;     // room that the ends of those will need
  uint64_t dropped;      // lines and sections that found no room
  bool thread_is_ending;
};
thread_local constinit ThreadLog mine{};

struct FreeAtThreadEnd {
  bool armed = false;
  ~FreeAtThreadEnd() {
    delete mine.text;
    mine.text = nullptr;
    mine.thread_is_ending = true;
  }
};
thread_local FreeAtThreadEnd free_at_thread_end;

// A program may log between a failing call and its look at errno.
class ErrnoKept {
 public:
  ErrnoKept() noexcept : value_(errno) {}
  ~ErrnoKept() { errno = value_; }
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;

 private:
  const int value_;
};

size_t mark_bytes(std::string_view category) { return category.size() + detail::kSectionMarkBytes; }

bool has_room(size_t bytes) noexcept {
  return mine.text->size() + mine.owed_bytes + bytes <= kMaxPieceBytes;
}

void start_over(const ActiveLog& log) {
  if (mine.text == nullptr) {
    mine.text = new std::string();
    if (!mine.thread_is_ending) free_at_thread_end.armed = true;  // registers the destructor
  }
  mine.text->clear();
  mine.log = &log;
  mine.visible = 0;
  mine.owed_bytes = 0;
  mine.dropped = 0;
}

// False when there is no room. Makes room for the end, which must not fail, at the same time.
bool start_section(const ActiveLog& log, std::string_view category) {
  if (mine.log != &log || mine.text == nullptr) start_over(log);
  const size_t bytes = mark_bytes(category);
  if (!has_room(2 * bytes)) {
    ++mine.dropped;
    return false;
  }
  mine.text->reserve(mine.text->size() + mine.owed_bytes + 2 * bytes);
  detail::append_section_start(*mine.text, log, category);
  mine.owed_bytes += bytes;
  ++mine.visible;
  return true;
}

void append_dropped() {
  constexpr std::string_view kCategory = "log-dropped";
  detail::append_section_start(*mine.text, *mine.log, kCategory);
  *mine.text += "lines and sections dropped: " + std::to_string(mine.dropped) + "\n";
  detail::append_section_end(*mine.text, *mine.log, kCategory);
}

void write_piece() {
  if (mine.dropped != 0) append_dropped();
  mine.dropped = 0;
  detail::write_log(*mine.log, *mine.text);
  mine.text->clear();
  if (mine.thread_is_ending) {
    delete mine.text;
    mine.text = nullptr;
  } else if (mine.text->capacity() > kKeptCapacity) {
    std::string().swap(*mine.text);
  }
}

void append_line(const char* format, va_list arguments) {
  char line[512];
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  const auto bytes = static_cast<size_t>(length < 0 ? 0 : length);
  if (!has_room(bytes + 1)) {
    ++mine.dropped;
  } else {
    std::string& text = *mine.text;
    const size_t before = text.size();
    text.reserve(before + mine.owed_bytes + bytes + 1);
    if (bytes < sizeof line) {
      text.append(line, bytes);
    } else {
      text.resize(before + bytes + 1);  // with room for the terminating zero
      std::vsnprintf(text.data() + before, bytes + 1, format, again);
      text.resize(before + bytes);
    }
    text += '\n';
  }
  va_end(again);
}

}  // namespace

void LogSection::begin() noexcept {
  const ErrnoKept errno_kept;
  const ActiveLog& log = detail::active_log();
  if (log.selection.nothing()) return;
  log_ = &log;
  state_ = State::kSilent;
  if (++mine.depth > kMaxDepth || !log.selection.wants_section(category_)) return;
  try {
    if (!start_section(log, category_)) return;
  } catch (...) {  // out of memory: the section is silent
    return;
  }
  state_ = log.selection.wants_lines() ? State::kLines : State::kStartStop;
}

void LogSection::end() noexcept {
  const ErrnoKept errno_kept;
  --mine.depth;
  if (state_ == State::kSilent || log_ != mine.log || mine.text == nullptr) return;
  try {
    detail::append_section_end(*mine.text, *mine.log, category_);
    mine.owed_bytes -= mark_bytes(category_);
    if (--mine.visible == 0) write_piece();
  } catch (...) {  // out of memory while describing what was dropped
    mine.text->clear();
  }
}

void LogSection::line(const char* format, ...) noexcept {
  if (state_ != State::kLines || log_ != mine.log || mine.text == nullptr) return;
  const ErrnoKept errno_kept;
  va_list arguments;
  va_start(arguments, format);
  try {
    append_line(format, arguments);
  } catch (...) {  // out of memory
    ++mine.dropped;
  }
  va_end(arguments);
}

}  // namespace fallow::telemetry
