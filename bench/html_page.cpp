#include "bench/html_page.h"

#include <fmt/format.h>

#include "bench/xml_text.h"

namespace fallow::bench {

namespace {

constexpr const char* kStyle = R"(
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
h1 { font-size: 1.4em } h2 { font-size: 1.15em; margin-top: 2em } h3 { font-size: 1em }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.15em 0.6em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
)";

}  // namespace

std::string html_page(const std::string& title, std::string_view style, const std::string& body) {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
             "<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
             xml_text(title), kStyle, style) +
         body + "</body>\n</html>\n";
}

std::string html_cell(const std::string& text) { return "<td>" + xml_text(text) + "</td>"; }

std::string html_paragraph(const std::string& text) {
  return text.empty() ? "" : "<p>" + xml_text(text) + "</p>\n";
}

}  // namespace fallow::bench
