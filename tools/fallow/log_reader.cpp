#include "tools/fallow/log_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace fallow::tool {
namespace {

struct Stamp {
  std::uint64_t ticks;
  std::string_view rest;
};

// `[1f] rest`
std::optional<Stamp> stamp_of(std::string_view line) {
  const std::size_t close = line.find("] ");
  if (!line.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  Stamp stamp{0, line.substr(close + 2)};
  const char* const end = line.data() + close;
  const auto [stop, error] = std::from_chars(line.data() + 1, end, stamp.ticks, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return stamp;
}

// The number behind `label`; behind the arrow, where a line tells before and after.
std::optional<double> number_behind(std::string_view label, std::string_view line) {
  if (!line.starts_with(label)) return std::nullopt;
  line.remove_prefix(label.size());
  constexpr std::string_view kArrow = "=> ";
  const std::size_t arrow = line.rfind(kArrow);
  if (arrow != std::string_view::npos) line.remove_prefix(arrow + kArrow.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  double number = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  return number;
}

// "gc-collect" is what older RPython logs call a whole collection.
std::optional<LogCollection::Kind> kind_of(std::string_view section) {
  if (section == "gc-minor") return LogCollection::Kind::kMinor;
  if (section == "gc-collect-step") return LogCollection::Kind::kStep;
  if (section == "gc-collect") return LogCollection::Kind::kFull;
  return std::nullopt;
}

class Reader {
 public:
  void read(std::string_view line) {
    const std::optional<Stamp> stamp = stamp_of(line);
    if (!stamp) {
      read_inner(line);
    } else if (stamp->rest.starts_with('{') && stamp->rest.size() > 1) {
      note(stamp->ticks);
      open_.push_back({std::string(stamp->rest.substr(1)), stamp->ticks});
    } else if (stamp->rest.ends_with('}') && stamp->rest.size() > 1) {
      note(stamp->ticks);
      close(stamp->rest.substr(0, stamp->rest.size() - 1), stamp->ticks);
    }
  }

  LogContents finish() {
    contents_.unfinished += open_.size();
    return std::move(contents_);
  }

 private:
  struct Open {
    std::string name;
    std::uint64_t began;
    bool ends_cycle = false;
  };

  void note(std::uint64_t ticks) {
    // Not in order where threads write: a piece is written when its outermost section ends.
    contents_.first = started_ ? std::min(contents_.first, ticks) : ticks;
    contents_.last = std::max(contents_.last, ticks);
    started_ = true;
    now_ = ticks;
  }

  void read_inner(std::string_view line) {
    constexpr std::string_view kTicksLine = "ticks per second: ";
    if (line.starts_with(kTicksLine)) {
      line.remove_prefix(kTicksLine.size());
      std::from_chars(line.data(), line.data() + line.size(), contents_.ticks_per_second);
    }
    if (open_.empty()) return;
    if (const auto used = number_behind("minor collect, total memory used:", line)) {
      contents_.used.push_back({now_, *used});
    } else if (const auto small = number_behind("bytes used in arenas:", line)) {
      bytes_in_arenas_ = *small;
    } else if (const auto large = number_behind("bytes raw-malloced:", line)) {
      contents_.used.push_back({now_, bytes_in_arenas_ + *large});
    } else if (const auto threshold = number_behind("next major collection threshold:", line)) {
      contents_.thresholds.push_back({now_, *threshold});
    }
  }

  void close(std::string_view name, std::uint64_t ticks) {
    const auto is_it = [name](const Open& open) { return open.name == name; };
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_it);
    if (found == open_.rend() || ticks < found->began) {
      ++contents_.damaged_lines;
      return;
    }
    // What began within it and has no end was cut out of the log.
    contents_.unfinished += static_cast<std::uint64_t>(found - open_.rbegin());
    const Open closed = std::move(*found);
    open_.erase(found.base() - 1, open_.end());
    contents_.durations[closed.name].push_back(ticks - closed.began);
    note_collection(closed, ticks);
  }

  void note_collection(const Open& closed, std::uint64_t end) {
    const auto encloses = [](const Open& open) { return kind_of(open.name).has_value(); };
    const auto outer = std::find_if(open_.begin(), open_.end(), encloses);
    const std::optional<LogCollection::Kind> kind = kind_of(closed.name);
    if (outer != open_.end()) {
      if (closed.ends_cycle || closed.name == "gc-collect-done") outer->ends_cycle = true;
    } else if (kind) {
      contents_.collections.push_back({*kind, closed.ends_cycle, closed.began, end});
    }
  }

  LogContents contents_;
  bool started_ = false;
  std::uint64_t now_ = 0;
  double bytes_in_arenas_ = 0;
  std::vector<Open> open_;
};

}  // namespace

LogContents read_log(std::istream& log) {
  Reader reader;
  for (std::string line; std::getline(log, line);) {
    if (line.ends_with('\r')) line.pop_back();
    reader.read(line);
  }
  if (log.bad()) throw std::runtime_error("the log cannot be read to its end");
  return reader.finish();
}

}  // namespace fallow::tool
