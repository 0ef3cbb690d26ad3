#include "platform/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "platform/small_file.h"
#include "platform/whole_number.h"

namespace fallow::platform {
namespace {

namespace fs = std::filesystem;

// Version 1 says "no limit" by a number of this order.
constexpr uint64_t kAbsurd = uint64_t{1} << 60;

// A hierarchy of control groups: what the process sees of it, and where it is in there.
struct Hierarchy {
  bool unified;            // version 2
  std::string group;       // the group of the process, by /proc/self/cgroup
  std::string mount_root;  // the group that is mounted …
  std::string mounted_at;  // … here
};

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');) {
    if (each == word) return true;
  }
  return false;
}

// Lines "number:controllers:group"; the unified hierarchy has no controllers.
std::vector<Hierarchy> groups_of_process(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (unified || has_word(controllers, "memory")) {
      found.push_back({unified, line.substr(second + 1), "", ""});
    }
  }
  return found;
}

// Fills in the mount of a hierarchy, by lines of mountinfo:
// "id parent device root mount-point options … - type source super-options".
void find_mount(const fs::path& root, Hierarchy& hierarchy) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string skipped;
    std::string mount_root;
    std::string mounted_at;
    fields >> skipped >> skipped >> skipped >> mount_root >> mounted_at;
    while (fields >> skipped && skipped != "-") {
    }
    std::string type;
    std::string options;
    fields >> type >> skipped >> options;
    const bool matches =
        hierarchy.unified ? type == "cgroup2" : type == "cgroup" && has_word(options, "memory");
    if (!matches) continue;
    hierarchy.mount_root = mount_root;
    hierarchy.mounted_at = mounted_at;
    return;
  }
}

// The group's path below the mount; the mount itself when the group lies outside, as it does in
// namespaces.
fs::path below_mount(const Hierarchy& hierarchy) {
  fs::path relative = fs::path(hierarchy.group).lexically_relative(hierarchy.mount_root);
  if (relative.empty() || *relative.begin() == "..") return {};
  return relative;
}

uint64_t limit_in(const fs::path& file) {
  const std::optional<uint64_t> value = whole_number(first_line(file));
  return value && *value != 0 && *value < kAbsurd ? *value : kNoMemoryLimit;
}

uint64_t limit_of(const fs::path& directory, bool unified) {
  if (!unified) return limit_in(directory / "memory.limit_in_bytes");
  return std::min(limit_in(directory / "memory.max"), limit_in(directory / "memory.high"));
}

}  // namespace

uint64_t container_memory_limit(const std::string& root) {
  uint64_t least = kNoMemoryLimit;
  for (Hierarchy& hierarchy : groups_of_process(root)) {
    find_mount(root, hierarchy);
    if (hierarchy.mounted_at.empty()) continue;
    fs::path directory = fs::path(root) / fs::path(hierarchy.mounted_at).relative_path();
    least = std::min(least, limit_of(directory, hierarchy.unified));
    for (const fs::path& step : below_mount(hierarchy)) {
      directory /= step;
      least = std::min(least, limit_of(directory, hierarchy.unified));
    }
  }
  return least;
}

}  // namespace fallow::platform
