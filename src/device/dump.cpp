// Everything about a device as text for people or JSON for programs.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "device/device_core.h"
#include "telemetry/size_parser.h"

namespace fallow::device::detail {

namespace {

using telemetry::format_bytes;

/// A region as it was at one moment.
struct RegionCopy {
  Region::Place place;
  std::uint64_t used = 0;
  std::uint64_t largest_free = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;  ///< bytes; number, or 0 if free
};

const char* state_of(std::uint64_t number) { return number == 0 ? "free" : "used"; }

RegionCopy copy_of(const Region& region) {
  RegionCopy copy{region.place(), region.used_bytes(), region.largest_free(), {}};
  for (const Block* block = region.first(); block != nullptr; block = block->after) {
    const std::uint64_t serial = block->ticket.load(std::memory_order_relaxed) >> Block::kStateBits;
    // The further chunks of an allocation have no number of their own.
    const bool part = block->state() == BlockState::kPart;
    copy.blocks.emplace_back(block->bytes, part ? UINT64_MAX : serial);
  }
  return copy;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string member(const char* name, std::uint64_t value) {
  return "\"" + std::string(name) + "\":" + std::to_string(value);
}

std::string usage_as_json(const UsageStatistics& usage) {
  char fragmentation[32];
  std::snprintf(fragmentation, sizeof fragmentation, "%.6f", usage.fragmentation());
  return "{" + member("current_bytes", usage.current_bytes) + "," +
         member("peak_bytes", usage.peak_bytes) + "," + member("total_bytes", usage.total_bytes) +
         "," + member("current_blocks", usage.current_blocks) + "," +
         member("peak_blocks", usage.peak_blocks) + "," +
         member("total_blocks", usage.total_blocks) + "," + member("regions", usage.regions) + "," +
         member("reserved_bytes", usage.reserved_bytes) + "," +
         member("free_bytes", usage.free_bytes) + "," + member("largest_free", usage.largest_free) +
         "," + member("in_flight_bytes", usage.in_flight_bytes) + "," +
         member("emergency_bytes", usage.emergency_bytes) + "," +
         member("emergency_free_bytes", usage.emergency_free_bytes) +
         ",\"fragmentation\":" + fragmentation + "}";
}

std::string pressure_as_json(const PressureStatistics& pressure) {
  return "{" + member("windows", pressure.windows) + "," + member("waits", pressure.waits) + "," +
         member("served_waiting", pressure.served_waiting) + "," + member("grown", pressure.grown) +
         "," + member("regions_released", pressure.regions_released) + "," +
         member("damped", pressure.damped) + "," + member("failed", pressure.failed) + "," +
         member("watermark_passes", pressure.watermark_passes) + "," +
         member("reclaimed_bytes", pressure.reclaimed_bytes) + "," +
         member("reclaim_ns", pressure.reclaim_ns) + "}";
}

std::string region_as_json(const RegionCopy& region) {
  std::string text = "{" + member("number", region.place.number) + "," +
                     member("domain", region.place.domain) + ",\"type\":\"" +
                     name_of(region.place.type) + "\"," + member("bytes", region.place.bytes) +
                     "," + member("used_bytes", region.used) + "," +
                     member("largest_free", region.largest_free) + ",\"blocks\":[";
  std::uint64_t offset = 0;
  for (const auto& [bytes, number] : region.blocks) {
    if (offset != 0) text += ",";
    text += "{" + member("offset", offset) + "," + member("bytes", bytes) + ",\"state\":\"" +
            state_of(number) + "\"";
    if (number != 0 && number != UINT64_MAX) text += "," + member("allocation", number);
    text += "}";
    offset += bytes;
  }
  return text + "]}";
}

std::string as_json(const std::string& backend, const DeviceStatistics& statistics,
                    const std::vector<RegionCopy>& regions) {
  std::string text = "{\"backend\":" + quoted(backend) + "," +
                     member("allocations", statistics.allocations) + "," +
                     member("frees", statistics.frees) + ",\"domains\":[";
  for (const DomainStatistics& domain : statistics.domains) {
    if (&domain != &statistics.domains.front()) text += ",";
    text += "{\"name\":" + quoted(domain.name) + "," +
            member("capacity_bytes", domain.capacity_bytes) +
            ",\"tensor\":" + usage_as_json(domain.usage[0]) +
            ",\"program\":" + usage_as_json(domain.usage[1]) +
            ",\"pressure\":" + pressure_as_json(domain.pressure) + "}";
  }
  text += "],\"regions\":[";
  for (const RegionCopy& region : regions) {
    if (&region != &regions.front()) text += ",";
    text += region_as_json(region);
  }
  return text + "]}\n";
}

/// 64 characters: what share of each part is in use, from blank to full.
std::string picture_of(const RegionCopy& region) {
  constexpr std::uint64_t kColumns = 64;
  constexpr char kShades[] = " .:-=+*#%@";
  std::vector<double> used(kColumns, 0);
  const double column_bytes = static_cast<double>(region.place.bytes) / kColumns;
  double start = 0;
  for (const auto& [bytes, number] : region.blocks) {
    const double end = start + static_cast<double>(bytes);
    for (auto column = static_cast<std::uint64_t>(start / column_bytes);
         number != 0 && column < kColumns; ++column) {
      const double from = static_cast<double>(column) * column_bytes;
      if (from >= end) break;
      used[column] += std::min(end, from + column_bytes) - std::max(start, from);
    }
    start = end;
  }
  std::string line;
  for (const double each : used) {
    line += kShades[std::min<std::size_t>(9, static_cast<std::size_t>(each / column_bytes * 9.5))];
  }
  return line;
}

std::string as_text(const std::string& backend, const DeviceStatistics& statistics,
                    const std::vector<RegionCopy>& regions) {
  std::string text = "device " + backend + ": " + std::to_string(statistics.allocations) +
                     " allocations, " + std::to_string(statistics.frees) + " frees\n";
  for (const DomainStatistics& domain : statistics.domains) {
    text += "domain " + domain.name + ", capacity " + format_bytes(domain.capacity_bytes) + "\n";
    for (const MemoryType type : {MemoryType::kTensor, MemoryType::kProgram}) {
      const UsageStatistics& usage = domain.usage[static_cast<std::size_t>(type)];
      text += std::string("  ") + name_of(type) + ": " + format_bytes(usage.current_bytes) +
              " in " + std::to_string(usage.current_blocks) + " blocks, peak " +
              format_bytes(usage.peak_bytes) + ", reserved " + format_bytes(usage.reserved_bytes) +
              ", largest free " + format_bytes(usage.largest_free) + "\n";
    }
  }
  for (const RegionCopy& region : regions) {
    text += "region " + std::to_string(region.place.number) + " (" + name_of(region.place.type) +
            ", domain " + std::to_string(region.place.domain) + "), " +
            format_bytes(region.place.bytes) + ", " + std::to_string(region.blocks.size()) +
            " blocks\n  [" + picture_of(region) + "]\n";
  }
  return text;
}

}  // namespace

std::string DeviceCore::dump(DumpFormat format) {
  std::vector<RegionCopy> regions;
  const DeviceStatistics figures = statistics();
  {
    const Locked lock(*this);
    for (const DomainMemory& domain : pool.domains()) {
      for (const auto& list : domain.regions) {
        for (const Region* const region : list) regions.push_back(copy_of(*region));
      }
    }
  }
  return format == DumpFormat::kJson ? as_json(backend->name(), figures, regions)
                                     : as_text(backend->name(), figures, regions);
}

}  // namespace fallow::device::detail
