#include "bench/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "fallow/detail/build_config.h"
#include "fallow/version.h"
#include "platform/cache_sizes.h"
#include "platform/thread_id.h"
#include "telemetry/size_parser.h"

namespace fallow::bench {

namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string compiler() {
  const std::string version = __VERSION__;
  return version.find("lang") == std::string::npos ? "gcc " + version : version;
}

/// Running threads, averaged over the last minute: other work on the machine spoils figures.
std::string load() {
  double average = 0;
  return getloadavg(&average, 1) == 1 ? fmt::format("{:.2f}", average) : "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_machine() {
  utsname system{};
  uname(&system);
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {{"processor", processor()},
          {"cpus", std::to_string(platform::cpu_count())},
          {"caches", platform::detect_cache_sizes().to_string()},
          {"memory", telemetry::format_bytes(memory)},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"compiler", compiler()},
          {"fallow", std::string(kVersion) + (detail::kChecked ? ", checked build: slow" : "")},
          {"load", load()},
          {"date", today()}};
}

}  // namespace fallow::bench
