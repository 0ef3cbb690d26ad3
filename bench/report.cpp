#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/machine.h"

namespace fallow::bench {

namespace {

std::string number(double value) {
  if (value == 0) return "0";
  const double size = value < 0 ? -value : value;
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string cell(const Measured::Figure& figure) {
  if (figure.minimum == figure.maximum) return number(figure.median);
  return fmt::format("{} ({}–{})", number(figure.median), number(figure.minimum),
                     number(figure.maximum));
}

/// Characters, not bytes: cells hold an en dash.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string pad(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

}  // namespace

std::string as_table(const std::vector<Measured>& rows) {
  std::vector<std::string> metrics;
  for (const Measured& row : rows) {
    for (const Measured::Figure& figure : row.figures) {
      if (std::find(metrics.begin(), metrics.end(), figure.name) == metrics.end()) {
        metrics.push_back(figure.name);
      }
    }
  }
  std::vector<std::vector<std::string>> lines;
  lines.emplace_back(1, "row");
  lines.front().insert(lines.front().end(), metrics.begin(), metrics.end());
  for (const Measured& row : rows) {
    std::vector<std::string>& line = lines.emplace_back(metrics.size() + 1, "-");
    line[0] = row.name;
    for (const Measured::Figure& figure : row.figures) {
      const auto column = std::find(metrics.begin(), metrics.end(), figure.name);
      line[static_cast<std::size_t>(column - metrics.begin()) + 1] = cell(figure);
    }
  }
  std::vector<std::size_t> widths(metrics.size() + 1, 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string table;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      table += i + 1 == line.size() ? line[i] : pad(line[i], widths[i] + 2);
    }
    table += '\n';
  }
  return table;
}

std::string as_json(const std::string& benchmark, const std::vector<Measured>& rows) {
  nlohmann::ordered_json document;
  document["bench"] = benchmark;
  for (const auto& [name, value] : describe_machine()) document["machine"][name] = value;
  document["rows"] = nlohmann::ordered_json::array();
  for (const Measured& row : rows) {
    nlohmann::ordered_json entry;
    entry["name"] = row.name;
    for (const Measured::Figure& figure : row.figures) {
      entry[figure.name] = figure.median;
      entry[figure.name + "_min"] = figure.minimum;
      entry[figure.name + "_max"] = figure.maximum;
    }
    document["rows"].push_back(entry);
  }
  return document.dump(2) + "\n";
}

}  // namespace fallow::bench
