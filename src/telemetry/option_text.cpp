// The option table in words: ranges for error messages, Markdown and plain text for people.
#include <cstdio>
#include <string>

#include "telemetry/option_table.h"
#include "telemetry/size_parser.h"

namespace fallow::telemetry {
namespace {

using Kind = OptionRow::Kind;

constexpr double kTwoTo64 = 18446744073709551616.0;

std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string bound(Kind kind, double value) {
  switch (kind) {
    case Kind::kBytes:
      return value >= 0 && value < kTwoTo64 ? format_bytes(static_cast<uint64_t>(value))
                                            : shortest(value) + " bytes";
    case Kind::kMicroseconds:
      return shortest(value) + " µs";
    case Kind::kText:
      return shortest(value) + " characters";
    default:
      return shortest(value);
  }
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kBytes:
      return "bytes";
    case Kind::kCount:
      return "count";
    case Kind::kFlag:
      return "switch";
    case Kind::kRatio:
      return "ratio";
    case Kind::kText:
      return "text";
    case Kind::kMicroseconds:
      return "microseconds";
  }
  return "";
}

// Keeps a cell in its column.
std::string escaped(const char* text) {
  std::string result;
  for (; *text != '\0'; ++text) {
    if (*text == '|') result += '\\';
    result += *text == '\n' ? ' ' : *text;
  }
  return result;
}

}  // namespace

std::string describe_range(const OptionRow& row) {
  if (row.kind == Kind::kFlag) return "1, true, yes, on or 0, false, no, off";
  // Numbers other than ratios cannot be negative, so 0 says nothing.
  const bool has_minimum =
      row.kind == Kind::kRatio ? row.minimum != -OptionRow::kUnbounded : row.minimum > 0;
  const bool has_maximum = row.maximum != OptionRow::kUnbounded;
  if (has_maximum) {
    if (row.minimum == -OptionRow::kUnbounded) return "at most " + bound(row.kind, row.maximum);
    return bound(row.kind, row.minimum) + " to " + bound(row.kind, row.maximum);
  }
  if (has_minimum) return "at least " + bound(row.kind, row.minimum);
  switch (row.kind) {
    case Kind::kBytes:
      return "any amount of memory";
    case Kind::kCount:
      return "any whole number";
    case Kind::kMicroseconds:
      return "any number of µs";
    case Kind::kRatio:
      return "any number";
    default:
      return "any text";
  }
}

std::string options_as_markdown(std::span<const OptionRow> rows) {
  std::string text =
      "| option | environment variable | kind | default | permitted | meaning |\n"
      "|---|---|---|---|---|---|\n";
  for (const OptionRow& row : rows) {
    text += "| `" + escaped(row.name) + "` | ";
    text += row.environment != nullptr ? "`" + escaped(row.environment) + "`" : "–";
    text += std::string(" | ") + kind_name(row.kind) + " | " + escaped(row.default_text) + " | ";
    text += describe_range(row) + " | " + escaped(row.help) + " |\n";
  }
  return text;
}

std::string options_as_text(std::span<const OptionRow> rows) {
  std::string text;
  for (const OptionRow& row : rows) {
    text += row.name;
    if (row.environment != nullptr) text += std::string("  ") + row.environment;
    text += std::string("  [default: ") + row.default_text + "; " + describe_range(row) + "]\n";
    text += std::string("    ") + row.help + "\n";
  }
  return text;
}

}  // namespace fallow::telemetry
