// The page of `server`: the picture, what it shows, and the medians.
#include <fmt/format.h>

#include <cmath>

#include "bench/benchmark.h"
#include "bench/html_page.h"
#include "bench/machine.h"
#include "bench/server.h"
#include "bench/xml_text.h"

namespace fallow::bench {

namespace {

constexpr const char* kExplanation =
    "An event comes every 4 ms. Its action changes a part of the live objects: as many die as are "
    "made, and many times as much lives only for a moment. The latency counts from the moment when "
    "the event was due, so that one that waits for another, or for the collector, is late. Of the "
    "events in one column of pixels the slowest is drawn, from the last run.";

/// A line a metric, a column a mode.
std::string table(const std::vector<Measured>& rows) {
  std::string html = "<table>\n<tr><th></th>";
  for (const Measured& row : rows) html += "<th>" + xml_text(row.name) + "</th>";
  html += "</tr>\n";
  if (rows.empty()) return html + "</table>\n";
  for (const Measured::Figure& figure : rows.front().figures) {
    html += "<tr>" + html_cell(figure.name);
    for (const Measured& row : rows) {
      const double value = row.value(figure.name);
      html += html_cell(std::isfinite(value) ? fmt::format("{:.0f}", value) : "");
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string machine_in_words() {
  std::string words;
  for (const auto& [name, value] : describe_machine()) {
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", name, value);
  }
  return words;
}

}  // namespace

std::string server_as_html(const std::vector<Measured>& rows) {
  return html_page(kServerTitle, "",
                   html_paragraph(kExplanation) + server_as_svg(rows) +
                       "<h2>Medians of all runs</h2>\n" + table(rows) +
                       html_paragraph(machine_in_words()));
}

}  // namespace fallow::bench
