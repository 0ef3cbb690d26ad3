#pragma once

#include <string>
#include <string_view>

namespace fallow::bench {

/// A page that needs nothing else, with its title as heading. `style` is CSS beside that of text,
/// tables and pictures, which every page has.
std::string html_page(const std::string& title, std::string_view style, const std::string& body);

/// Text as a cell of a table.
std::string html_cell(const std::string& text);

/// Text as a paragraph, or nothing.
std::string html_paragraph(const std::string& text);

}  // namespace fallow::bench
