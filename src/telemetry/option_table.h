// One table of options: names, environment variables, ranges, defaults and help text, from which
// parsing, error messages and the documentation are all derived.
//
// The rows themselves belong to the layer that has the options.
// Thread-safety: pure functions, except option_from_environment (see platform/environment.h).
// Errors: returned as text that names the variable, the value, the permitted range and the unit.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fallow::telemetry {

struct OptionRow {
  enum class Kind {
    kBytes,         // see parse_size
    kCount,         // decimal integer
    kFlag,          // 1/0, true/false, yes/no, on/off, in any case; bounds are ignored
    kRatio,         // decimal number
    kText,          // anything; bounds limit its length
    kMicroseconds,  // decimal integer, optionally followed by us, ms or s
  };
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  const char* name;         // as in a configuration struct, for example "nursery_bytes"
  const char* environment;  // for example "FALLOW_NURSERY", or nullptr
  Kind kind;
  double minimum;            // smallest permitted value, in the unit of the kind
  double maximum;            // largest permitted value, or kUnbounded
  const char* default_text;  // a value, or words in parentheses: "(from the cache sizes)"
  const char* help;          // one sentence, no line breaks
};

// The member that belongs to the kind of the row is set.
struct OptionValue {
  uint64_t number = 0;  // kBytes, kCount, kMicroseconds
  double ratio = 0;     // kRatio
  bool flag = false;    // kFlag
  std::string text;     // the text as given, without surrounding blanks; kText
};

struct ParsedOption {
  std::optional<OptionValue> value;
  std::string error;  // non-empty exactly when the text was refused

  explicit operator bool() const noexcept { return value.has_value(); }
};

// Parses a value and checks it against its row. Messages begin with the environment variable, or
// with the name for a row without one.
ParsedOption parse_option(const OptionRow& row, std::string_view text);

// Reads the environment variable of the row. Neither value nor error when the row has none, or when
// the variable is unset or empty.
ParsedOption option_from_environment(const OptionRow& row);

// The default of a row; no value when it is described in words.
std::optional<OptionValue> default_value(const OptionRow& row);

// Looks a row up by name or environment variable; nullptr when there is none.
const OptionRow* find_option(std::span<const OptionRow> rows, std::string_view name);

// What is wrong with the table (duplicate or empty name, empty range, default outside its range),
// or nothing. For a test.
std::string check_option_table(std::span<const OptionRow> rows);

// "64 KiB to 1 GiB", "at least 10 µs", "any whole number": the permitted values in words.
std::string describe_range(const OptionRow& row);

// A Markdown table with one line per row.
std::string options_as_markdown(std::span<const OptionRow> rows);

// Plain text for a terminal: a line with name, variable, default and range, then the help text.
std::string options_as_text(std::span<const OptionRow> rows);

}  // namespace fallow::telemetry
