#include "profile/record/perf_map.h"

#include <sys/stat.h>

#include <charconv>
#include <fstream>

#include "platform/thread_id.h"

namespace fallow::profile {

namespace {

bool read_hexadecimal(const char*& at, const char* end, std::uint64_t& value) {
  if (end - at > 2 && at[0] == '0' && at[1] == 'x') at += 2;
  const auto [next, error] = std::from_chars(at, end, value, 16);
  if (error != std::errc() || next == end || *next != ' ') return false;
  at = next + 1;
  return true;
}

}  // namespace

void PerfMap::start() {
  path_ = "/tmp/perf-" + std::to_string(platform::current_process_id()) + ".map";
  position_ = 0;
}

bool PerfMap::parse(const std::string& line, CodeRange& range) {
  const char* at = line.data();
  const char* const end = at + line.size();
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  if (!read_hexadecimal(at, end, start) || !read_hexadecimal(at, end, bytes)) return false;
  range = {std::string(at, end), static_cast<std::uintptr_t>(start),
           static_cast<std::size_t>(bytes)};
  return bytes != 0;
}

void PerfMap::read_new(std::vector<CodeRange>& code) {
  struct stat facts{};
  if (stat(path_.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if (static_cast<std::uint64_t>(facts.st_size) <= position_) return;
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(position_));
  std::string line;
  // The last line may not be complete yet: it is read again.
  while (std::getline(file, line) && !file.eof()) {
    position_ += line.size() + 1;
    CodeRange range;
    if (parse(line, range)) code.push_back(std::move(range));
  }
}

}  // namespace fallow::profile
