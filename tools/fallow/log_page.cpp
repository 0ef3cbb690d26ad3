#include "tools/fallow/log_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/html_page.h"
#include "bench/xml_text.h"
#include "tools/fallow/log_picture.h"
#include "tools/fallow/log_report.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

using bench::html_cell;
using bench::html_paragraph;
using bench::xml_text;

constexpr const char* kStyle = R"(
.histogram td { border: none } .histogram td:last-child { width: 24em; text-align: left }
.bar { background: #0072b2; height: 0.8em; min-width: 1px }
)";

std::string section_table(const LogSummary& summary) {
  std::string html =
      "<table>\n<tr><th>section</th><th>count</th><th>total, ms</th><th>% of the time</th>"
      "<th>p50, µs</th><th>p90, µs</th><th>p99, µs</th><th>p99.9, µs</th><th>max, µs</th></tr>\n";
  for (const LogSectionSummary& section : summary.sections) {
    const double percent = summary.span_s > 0 ? section.total_s / summary.span_s * 100 : 0;
    html += "<tr>" + html_cell(section.name) + html_cell(format_count(section.count)) +
            html_cell(fmt::format("{:.3f}", section.total_s * 1e3)) +
            html_cell(fmt::format("{:.2f}", percent));
    for (const double us :
         {section.p50_us, section.p90_us, section.p99_us, section.p999_us, section.max_us}) {
      html += html_cell(fmt::format("{:.1f}", us));
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string utilisation_table(const LogSummary& summary) {
  std::string html = "<h2>Minimum mutator utilisation (MMU)</h2>\n";
  html += html_paragraph(pauses_in_words(summary));
  if (!summary.utilisation.empty()) {
    std::string windows;
    std::string parts;
    for (const LogUtilisation& window : summary.utilisation) {
      windows += html_cell(fmt::format("{}", window.window_ms));
      parts += html_cell(fmt::format("{:.2f}", window.part * 100));
    }
    html +=
        html_paragraph("The smallest part of any window of this length in which the program ran.");
    html += "<table>\n<tr><td>window, ms</td>" + windows + "</tr>\n<tr><td>MMU, %</td>" + parts +
            "</tr>\n</table>\n";
  }
  return html + html_paragraph(windows_left_out_in_words(summary));
}

std::string histogram(const LogSectionSummary& section) {
  std::uint64_t largest = 1;
  for (const LogBucket& bucket : section.histogram) largest = std::max(largest, bucket.count);
  std::string html = "<h3>" + xml_text(section.name) + "</h3>\n<table class=\"histogram\">\n";
  for (const LogBucket& bucket : section.histogram) {
    const double percent = static_cast<double>(bucket.count) * 100 / static_cast<double>(largest);
    html += "<tr>" + html_cell(fmt::format("{} – {} µs", bucket.from_us, bucket.to_us)) +
            html_cell(format_count(bucket.count)) + "<td>";
    if (bucket.count != 0) {
      html += fmt::format("<div class=\"bar\" style=\"width: {:.1f}%\"></div>", percent);
    }
    html += "</td></tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::string log_as_html(const std::string& file, const LogSummary& summary) {
  std::string html = log_as_svg(file, summary);
  html += "<h2>Sections</h2>\n" + html_paragraph("Times include the sections within.");
  html += section_table(summary);
  html += html_paragraph(damage_in_words(summary));
  html += utilisation_table(summary);
  html += "<h2>Histograms</h2>\n";
  for (const LogSectionSummary& section : summary.sections) html += histogram(section);
  return bench::html_page(log_title(file, summary), kStyle, html);
}

}  // namespace fallow::tool
