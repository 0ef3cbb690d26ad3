// Cache description by the Linux kernel: devices/system/cpu/cpu*/cache/index*.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "platform/cache_sources.h"
#include "platform/small_file.h"
#include "platform/whole_number.h"

namespace fallow::platform {
namespace {

namespace fs = std::filesystem;

// "32K", "1024K", "2M" or plain bytes; nothing when malformed or too large.
std::optional<uint64_t> size_in_bytes(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty()) {
    const char unit = text.back();
    shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    if (shift != 0) text.remove_suffix(1);
  }
  const std::optional<uint64_t> value = whole_number(text);
  if (!value || *value > UINT64_MAX >> shift) return std::nullopt;
  return *value << shift;
}

struct CpuRange {
  uint64_t first, last;
};

// "0-3,8": malformed parts are left out.
std::vector<CpuRange> cpu_list(std::string_view text) {
  std::vector<CpuRange> ranges;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t dash = part.find('-');
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
    if (first && last && *first <= *last) ranges.push_back({*first, *last});
  }
  return ranges;
}

size_t cpus_in(const std::vector<CpuRange>& ranges) {
  constexpr uint64_t kMaxCpus = 1 << 20;
  uint64_t count = 0;
  for (const CpuRange& range : ranges) {
    const uint64_t more = range.last - range.first;
    if (more >= kMaxCpus) return 1;  // nonsense, so unknown
    count += more + 1;
  }
  return static_cast<size_t>(count);
}

bool is_online(const std::vector<CpuRange>& online, uint64_t cpu) {
  if (online.empty()) return true;  // not told
  for (const CpuRange& range : online) {
    if (cpu >= range.first && cpu <= range.last) return true;
  }
  return false;
}

// Subdirectories called `prefix` and a number, with that number.
struct Numbered {
  fs::path path;
  uint64_t number;
};
std::vector<Numbered> numbered_entries(const fs::path& directory, std::string_view prefix) {
  std::vector<Numbered> entries;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.rfind(prefix, 0) != 0) continue;
    const auto number = whole_number(std::string_view(name).substr(prefix.size()));
    if (number) entries.push_back({it->path(), *number});
  }
  return entries;
}

void read_index(const fs::path& index, CacheFindings& found) {
  const std::string type = first_line(index / "type");
  if (type != "Data" && type != "Unified") return;
  const auto level = whole_number(first_line(index / "level"));
  const auto bytes = size_in_bytes(first_line(index / "size"));
  if (!level || !bytes) return;
  found.note(*level, *bytes, cpus_in(cpu_list(first_line(index / "shared_cpu_list"))));
}

}  // namespace

CacheFindings caches_from_sysfs(const std::string& sysfs_root) {
  CacheFindings found;
  const fs::path cpus = fs::path(sysfs_root) / "devices/system/cpu";
  const std::vector<CpuRange> online = cpu_list(first_line(cpus / "online"));
  for (const Numbered& cpu : numbered_entries(cpus, "cpu")) {
    if (!is_online(online, cpu.number)) continue;
    for (const Numbered& index : numbered_entries(cpu.path / "cache", "index")) {
      read_index(index.path, found);
    }
  }
  return found;
}

}  // namespace fallow::platform
