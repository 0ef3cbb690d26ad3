#include "profile/record/recorder_options.h"

#include <array>
#include <cmath>
#include <optional>

#include "platform/whole_number.h"
#include "profile/record/interval_control.h"
#include "profile/record/option_names.h"
#include "telemetry/option_table.h"
#include "telemetry/size_parser.h"

namespace fallow::profile {

namespace {

using telemetry::OptionRow;
using Kind = OptionRow::Kind;

constexpr double kLargestInterval = static_cast<double>(IntervalControl::kLargest);
constexpr double kSmallestFile = 64 * 1024;
constexpr double kLargestFile = 1024.0 * 1024 * 1024 * 1024 * 1024;
constexpr double kLargestBudget = 0.5;
constexpr double kSmallestBudget = 1e-6;
constexpr std::uint64_t kNsPerUs = 1000;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kSmallestTimeNs = 100'000;
constexpr std::uint64_t kLargestTimeNs = 10 * kNsPerSecond;

/// What stands behind the file's name.
constexpr OptionRow kEvery = {"every",
                              nullptr,
                              Kind::kBytes,
                              1,
                              kLargestInterval,
                              "(as the budget permits)",
                              "Mean distance of samples."};
constexpr OptionRow kSeed = {"seed",
                             nullptr,
                             Kind::kCount,
                             0,
                             OptionRow::kUnbounded,
                             "0",
                             "All random numbers derive from this."};
constexpr OptionRow kMaxSize = {"max-size",
                                nullptr,
                                Kind::kBytes,
                                kSmallestFile,
                                kLargestFile,
                                "(none)",
                                "Upper bound of the file's size."};
constexpr OptionRow kFlush = {"flush", nullptr, Kind::kMicroseconds,     1000,
                              60e6,    "1s",    "What a crash may cost."};

[[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view permitted) {
  throw OptionError("fallow: " + std::string(key) + " is '" + std::string(value) +
                    "', permitted: " + std::string(permitted));
}

telemetry::OptionValue parsed(const OptionRow& row, std::string_view text) {
  const telemetry::ParsedOption option = telemetry::parse_option(row, text);
  if (!option) throw OptionError("fallow: " + option.error);
  return *option.value;
}

/// "1%" or "0.01".
double parsed_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string number(percent ? text.substr(0, text.size() - 1) : text);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end) / (percent ? 100 : 1);
  if (number.empty() || *end != '\0' || !(value >= kSmallestBudget && value <= kLargestBudget)) {
    refuse("budget", text, "more than 0 to 50%, such as 1% or 0.01");
  }
  return value;
}

void set_time(RecorderOptions& options, std::string_view text) {
  if (text == "off" || text == "0") {
    options.time = TimeSampling::kOff;
    return;
  }
  std::string_view digits = text;
  if (digits.ends_with("Hz") || digits.ends_with("hz")) digits.remove_suffix(2);
  const std::optional<std::uint64_t> rate = platform::whole_number(digits);
  if (!rate || *rate == 0 || *rate > kNsPerSecond / kSmallestTimeNs) {
    refuse("time", text, "off, or 1Hz to 10000Hz");
  }
  if (options.time == TimeSampling::kOff) options.time = TimeSampling::kCpu;
  options.time_interval_ns = kNsPerSecond / *rate;
}

void set_native(RecorderOptions& options, std::string_view text) {
  for (const NativeStacks each : {NativeStacks::kFramePointers, NativeStacks::kFast,
                                  NativeStacks::kCopy, NativeStacks::kOff}) {
    if (text == name_of(each)) {
      options.native = each;
      return;
    }
  }
  refuse("native", text, "fp, fast, copy, off");
}

void set_clock(RecorderOptions& options, std::string_view text) {
  if (text != "cpu" && text != "wall") refuse("clock", text, "cpu, wall");
  options.time = text == "cpu" ? TimeSampling::kCpu : TimeSampling::kWall;
}

bool flag(std::string_view key, std::optional<std::string_view> value) {
  if (!value || *value == "1" || *value == "yes" || *value == "on") return true;
  if (*value == "0" || *value == "no" || *value == "off") return false;
  refuse(key, *value, "1, 0, or nothing for 1");
}

void set(RecorderOptions& options, std::string_view key, std::optional<std::string_view> value) {
  if (key == "force") {
    options.overwrite = flag(key, value);
  } else if (key == "follow-fork") {
    options.follow_fork = flag(key, value);
  } else if (!value) {
    refuse(key, "", "key=value, with every, budget, seed, native, time, clock, max-size or flush");
  } else if (key == "every") {
    options.interval_bytes = parsed(kEvery, *value).number;
  } else if (key == "budget") {
    options.budget = parsed_share(*value);
  } else if (key == "seed") {
    options.seed = parsed(kSeed, *value).number;
  } else if (key == "native") {
    set_native(options, *value);
  } else if (key == "time") {
    set_time(options, *value);
  } else if (key == "clock") {
    set_clock(options, *value);
  } else if (key == "max-size") {
    options.max_file_bytes = parsed(kMaxSize, *value).number;
  } else if (key == "flush") {
    options.flush_interval_ns = parsed(kFlush, *value).number * kNsPerUs;
  } else {
    throw OptionError("fallow: '" + std::string(key) +
                      "' is no option of a recording; there are every, budget, seed, native, time, "
                      "clock, max-size, flush, follow-fork and force");
  }
}

void expect(bool permitted, const char* member, double value, const char* range) {
  if (!permitted) refuse(member, std::to_string(value), range);
}

}  // namespace

RecorderOptions RecorderOptions::from_text(std::string_view text) {
  RecorderOptions options;
  std::size_t comma = text.find(',');
  options.file = text.substr(0, comma);
  while (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) value = item.substr(equals + 1);
    set(options, item.substr(0, equals), value);
  }
  check(options);
  return options;
}

void check(const RecorderOptions& options) {
  if (options.file.empty()) throw OptionError("fallow: a recording needs the name of a file");
  expect(options.interval_bytes <= IntervalControl::kLargest, "interval_bytes",
         static_cast<double>(options.interval_bytes), "0 to 2^40");
  expect(options.budget >= kSmallestBudget && options.budget <= kLargestBudget, "budget",
         options.budget, "above 0 to 0.5");
  expect(
      options.max_file_bytes == 0 || static_cast<double>(options.max_file_bytes) >= kSmallestFile,
      "max_file_bytes", static_cast<double>(options.max_file_bytes), "0, or 64 KiB and more");
  expect(options.flush_interval_ns >= kNsPerSecond / 1000 &&
             options.flush_interval_ns <= 60 * kNsPerSecond,
         "flush_interval_ns", static_cast<double>(options.flush_interval_ns), "1 ms to 60 s");
  expect(options.time == TimeSampling::kOff || (options.time_interval_ns >= kSmallestTimeNs &&
                                                options.time_interval_ns <= kLargestTimeNs),
         "time_interval_ns", static_cast<double>(options.time_interval_ns), "100 us to 10 s");
}

}  // namespace fallow::profile
