#pragma once

#include <string>
#include <string_view>

namespace fallow::bench {

/// Text as it may stand between the tags of XML and HTML. What no document may hold, control
/// characters and bytes that are no UTF-8, becomes a replacement character.
std::string xml_text(std::string_view text);

}  // namespace fallow::bench
