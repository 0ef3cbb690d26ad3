#include "platform/small_file.h"

#include <fstream>

namespace fallow::platform {

std::string first_line(const std::filesystem::path& path) {
  constexpr size_t kMaxLength = 4096;
  std::ifstream file(path);
  std::string line;
  for (char c; line.size() < kMaxLength && file.get(c) && c != '\n';) line.push_back(c);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

}  // namespace fallow::platform
