#include "telemetry/option_table.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "platform/environment.h"
#include "platform/whole_number.h"
#include "telemetry/size_parser.h"

namespace fallow::telemetry {
namespace {

using Kind = OptionRow::Kind;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return result;
}

std::optional<uint64_t> parse_microseconds(std::string_view text) {
  uint64_t factor = 1;
  const auto takes = [&text](std::string_view unit) {
    if (!text.ends_with(unit)) return false;
    text.remove_suffix(unit.size());
    return true;
  };
  if (takes("us")) {
    factor = 1;
  } else if (takes("ms")) {
    factor = 1'000;
  } else if (takes("s")) {
    factor = 1'000'000;
  }
  const std::optional<uint64_t> value = platform::whole_number(trimmed(text));
  if (!value || *value > UINT64_MAX / factor) return std::nullopt;
  return *value * factor;
}

std::optional<double> parse_ratio(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stopped != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> parse_flag(std::string_view text) {
  constexpr std::array<std::string_view, 4> kTrue = {"1", "true", "yes", "on"};
  constexpr std::array<std::string_view, 4> kFalse = {"0", "false", "no", "off"};
  const std::string word = lower(text);
  for (const std::string_view candidate : kTrue) {
    if (word == candidate) return true;
  }
  for (const std::string_view candidate : kFalse) {
    if (word == candidate) return false;
  }
  return std::nullopt;
}

// The value in the unit of the bounds, or what is wrong with the text.
struct Reading {
  OptionValue value;
  double measure = 0;
  std::string problem;
};

template <typename Parsed>
void take_number(const Parsed& parsed, const char* problem, Reading& reading) {
  if (!parsed) {
    reading.problem = problem;
    return;
  }
  reading.value.number = *parsed;
  reading.measure = static_cast<double>(*parsed);
}

Reading read_value(Kind kind, std::string_view text) {
  Reading reading;
  reading.value.text = std::string(text);
  switch (kind) {
    case Kind::kBytes: {
      const ParsedSize parsed = parse_size(text);
      take_number(parsed.bytes, "", reading);
      if (!parsed) reading.problem = parsed.error.substr(parsed.error.rfind("': ") + 3);
      break;
    }
    case Kind::kCount:
      take_number(platform::whole_number(text), "not a whole number", reading);
      break;
    case Kind::kMicroseconds:
      take_number(parse_microseconds(text),
                  "not a duration (a whole number of microseconds, or with us, ms or s)", reading);
      break;
    case Kind::kRatio: {
      const std::optional<double> parsed = parse_ratio(text);
      if (!parsed) reading.problem = "not a number";
      reading.value.ratio = reading.measure = parsed.value_or(0);
      break;
    }
    case Kind::kFlag: {
      const std::optional<bool> parsed = parse_flag(text);
      if (!parsed) reading.problem = "not a switch";
      reading.value.flag = parsed.value_or(false);
      break;
    }
    case Kind::kText:
      reading.measure = static_cast<double>(text.size());
      break;
  }
  return reading;
}

ParsedOption refuse(const OptionRow& row, std::string_view text, const std::string& problem) {
  constexpr size_t kMaxQuoted = 60;
  std::string quoted(text.substr(0, kMaxQuoted));
  if (text.size() > kMaxQuoted) quoted += "...";
  const char* const who = row.environment != nullptr ? row.environment : row.name;
  return {std::nullopt, std::string(who) + "='" + quoted + "': " + problem +
                            "; permitted: " + describe_range(row)};
}

}  // namespace

ParsedOption parse_option(const OptionRow& row, std::string_view text) {
  const std::string_view value = trimmed(text);
  Reading reading = read_value(row.kind, value);
  if (!reading.problem.empty()) return refuse(row, value, reading.problem);
  if (row.kind != Kind::kFlag) {
    if (reading.measure < row.minimum) {
      return refuse(row, value, row.kind == Kind::kText ? "too short" : "too small");
    }
    if (reading.measure > row.maximum) {
      return refuse(row, value, row.kind == Kind::kText ? "too long" : "too large");
    }
  }
  return {std::move(reading.value), {}};
}

ParsedOption option_from_environment(const OptionRow& row) {
  if (row.environment == nullptr) return {};
  const std::optional<std::string> text = platform::environment(row.environment);
  if (!text || text->empty()) return {};
  return parse_option(row, *text);
}

std::optional<OptionValue> default_value(const OptionRow& row) {
  if (row.default_text == nullptr || row.default_text[0] == '(') return std::nullopt;
  return parse_option(row, row.default_text).value;
}

const OptionRow* find_option(std::span<const OptionRow> rows, std::string_view name) {
  for (const OptionRow& row : rows) {
    if (name == row.name || (row.environment != nullptr && name == row.environment)) return &row;
  }
  return nullptr;
}

std::string check_option_table(std::span<const OptionRow> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const OptionRow& row = rows[i];
    if (row.name == nullptr || row.name[0] == '\0') {
      return "row " + std::to_string(i) + " has no name";
    }
    const std::string name = row.name;
    if (row.help == nullptr || row.help[0] == '\0') return name + ": no help text";
    if (row.default_text == nullptr) return name + ": no default";
    if (!(row.minimum <= row.maximum)) return name + ": empty range";
    if (find_option(rows.first(i), row.name) != nullptr ||
        (row.environment != nullptr && find_option(rows.first(i), row.environment) != nullptr)) {
      return name + ": duplicate name or environment variable";
    }
    if (row.default_text[0] != '(') {
      const ParsedOption parsed = parse_option(row, row.default_text);
      if (!parsed) return name + ": default: " + parsed.error;
    }
  }
  return {};
}

}  // namespace fallow::telemetry
