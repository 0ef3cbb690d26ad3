#include "tools/fallow/log_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/xml_text.h"
#include "tools/fallow/log_picture.h"
#include "tools/fallow/log_report.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

using bench::xml_text;

constexpr const char* kStyle = R"(
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
h1 { font-size: 1.4em } h2 { font-size: 1.15em; margin-top: 2em } h3 { font-size: 1em }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.15em 0.6em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
.histogram td { border: none } .histogram td:last-child { width: 24em; text-align: left }
.bar { background: #0072b2; height: 0.8em; min-width: 1px }
)";

std::string cell(const std::string& text) { return "<td>" + xml_text(text) + "</td>"; }

std::string section_table(const LogSummary& summary) {
  std::string html =
      "<table>\n<tr><th>section</th><th>count</th><th>total, ms</th><th>% of the time</th>"
      "<th>p50, µs</th><th>p90, µs</th><th>p99, µs</th><th>p99.9, µs</th><th>max, µs</th></tr>\n";
  for (const LogSectionSummary& section : summary.sections) {
    const double percent = summary.span_s > 0 ? section.total_s / summary.span_s * 100 : 0;
    html += "<tr>" + cell(section.name) + cell(format_count(section.count)) +
            cell(fmt::format("{:.3f}", section.total_s * 1e3)) +
            cell(fmt::format("{:.2f}", percent));
    for (const double us :
         {section.p50_us, section.p90_us, section.p99_us, section.p999_us, section.max_us}) {
      html += cell(fmt::format("{:.1f}", us));
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p>" + xml_text(text) + "</p>\n";
}

std::string utilisation_table(const LogSummary& summary) {
  std::string html = "<h2>Minimum mutator utilisation (MMU)</h2>\n";
  html += paragraph(pauses_in_words(summary));
  if (!summary.utilisation.empty()) {
    std::string windows;
    std::string parts;
    for (const LogUtilisation& window : summary.utilisation) {
      windows += cell(fmt::format("{}", window.window_ms));
      parts += cell(fmt::format("{:.2f}", window.part * 100));
    }
    html += paragraph("The smallest part of any window of this length in which the program ran.");
    html += "<table>\n<tr><td>window, ms</td>" + windows + "</tr>\n<tr><td>MMU, %</td>" + parts +
            "</tr>\n</table>\n";
  }
  return html + paragraph(windows_left_out_in_words(summary));
}

std::string histogram(const LogSectionSummary& section) {
  std::uint64_t largest = 1;
  for (const LogBucket& bucket : section.histogram) largest = std::max(largest, bucket.count);
  std::string html = "<h3>" + xml_text(section.name) + "</h3>\n<table class=\"histogram\">\n";
  for (const LogBucket& bucket : section.histogram) {
    const double percent = static_cast<double>(bucket.count) * 100 / static_cast<double>(largest);
    html += "<tr>" + cell(fmt::format("{} – {} µs", bucket.from_us, bucket.to_us)) +
            cell(format_count(bucket.count)) + "<td>";
    if (bucket.count != 0) {
      html += fmt::format("<div class=\"bar\" style=\"width: {:.1f}%\"></div>", percent);
    }
    html += "</td></tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::string log_as_html(const std::string& file, const LogSummary& summary) {
  const std::string title = xml_text(log_title(file, summary));
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      title, kStyle);
  html += log_as_svg(file, summary);
  html += "<h2>Sections</h2>\n" + paragraph("Times include the sections within.");
  html += section_table(summary);
  html += paragraph(damage_in_words(summary));
  html += utilisation_table(summary);
  html += "<h2>Histograms</h2>\n";
  for (const LogSectionSummary& section : summary.sections) html += histogram(section);
  return html + "</body>\n</html>\n";
}

}  // namespace fallow::tool
