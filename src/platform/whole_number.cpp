#include "platform/whole_number.h"

#include <charconv>
#include <system_error>

namespace fallow::platform {

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace fallow::platform
