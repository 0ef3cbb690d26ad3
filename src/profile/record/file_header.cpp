#include "profile/record/file_header.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "fallow/version.h"
#include "platform/small_file.h"
#include "platform/thread_id.h"
#include "profile/format/encoding.h"
#include "profile/format/recording_format.h"
#include "profile/record/option_names.h"

namespace fallow::profile {

namespace {

constexpr std::size_t kMostCommand = std::size_t{64} << 10;

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!text.empty() && text.back() == '\0') text.pop_back();
  text.resize(std::min(text.size(), kMostCommand));
  return text;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

class Header {
 public:
  Header() {
    append(HeaderTag::kVersion, kMaxVarintBytes,
           [](std::uint8_t* body) { return put_varint(body, kRecordingVersion); });
  }
  void meta(std::string_view key, std::string_view value) {
    append(HeaderTag::kMeta, 2 * kMaxVarintBytes + key.size() + value.size(),
           [&](std::uint8_t* body) { return put_text(put_text(body, key), value); });
  }
  void meta(std::string_view key, std::uint64_t value) { meta(key, std::to_string(value)); }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  template <class Write>
  void append(HeaderTag tag, std::size_t most, Write&& write) {
    const std::size_t used = bytes_.size();
    bytes_.resize(used + kMaxRecordHead + most);
    std::uint8_t* const start = bytes_.data() + used;
    bytes_.resize(used + static_cast<std::size_t>(put_record(start, tag, write) - start));
  }
  std::vector<std::uint8_t> bytes_;
};

std::uint64_t realtime_ns() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace

std::vector<std::uint8_t> header_payload(const RecorderOptions& options, std::size_t interval_bytes,
                                         std::uint64_t start_monotonic_ns) {
  constexpr double kMillion = 1e6;
  Header header;
  header.meta("command", command_line());
  header.meta("pid", platform::current_process_id());
  header.meta("start_realtime_ns", realtime_ns());
  header.meta("start_monotonic_ns", start_monotonic_ns);
  header.meta("interval_bytes", interval_bytes);
  header.meta("seed", options.seed);
  header.meta("native_stacks", name_of(options.native));
  header.meta("fallow", kVersion);
  header.meta("host", platform::first_line("/proc/sys/kernel/hostname"));
  header.meta("cpu", processor_name());
  if (options.time != TimeSampling::kOff) {
    header.meta("time_sampling_ns", options.time_interval_ns);
    header.meta("time_clock", options.time == TimeSampling::kCpu ? "cpu" : "wall");
  }
  if (options.interval_bytes == 0) {
    header.meta("budget_ppm", static_cast<std::uint64_t>(std::llround(options.budget * kMillion)));
  }
  if (options.max_file_bytes != 0) header.meta("max_size_bytes", options.max_file_bytes);
  return header.take();
}

}  // namespace fallow::profile
