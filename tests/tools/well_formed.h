// What documents of tags are tested for: SVG, and HTML as this project writes it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace fallow::test {

inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Every element that is opened is closed, in the right order; attributes have their quotes; no
// ampersand but of an entity.
inline void expect_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while ((at = xml.find('<', at)) != std::string::npos) {
    const std::size_t end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    EXPECT_EQ(tag.find('<'), std::string::npos) << tag;
    EXPECT_EQ(occurrences(tag, "\"") % 2, 0U) << tag;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty()) << tag;
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(occurrences(xml, "&"),
            occurrences(xml, "&lt;") + occurrences(xml, "&gt;") + occurrences(xml, "&amp;"));
  EXPECT_EQ(xml.find("nan"), std::string::npos);
  EXPECT_EQ(xml.find("inf"), std::string::npos);
}

}  // namespace fallow::test
