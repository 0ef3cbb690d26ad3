#pragma once

#include <string>
#include <string_view>

namespace fallow::profile {

/// Valid UTF-8: each byte that is none becomes U+FFFD. Costs one look at each byte.
std::string valid_utf8(std::string_view text);

/// On one line and fit for a terminal: control characters become blanks, and invalid bytes U+FFFD.
std::string one_line(std::string_view text);

}  // namespace fallow::profile
