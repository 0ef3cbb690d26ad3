#include "platform/small_file.h"

#include <charconv>
#include <fstream>
#include <system_error>

namespace fallow::platform {

std::string first_line(const std::filesystem::path& path) {
  constexpr size_t kMaxLength = 4096;
  std::ifstream file(path);
  std::string line;
  for (char c; line.size() < kMaxLength && file.get(c) && c != '\n';) line.push_back(c);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace fallow::platform
