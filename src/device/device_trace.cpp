#include "fallow/device_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <mutex>
#include <string_view>

#include "fallow/error.h"
#include "platform/output_file.h"
#include "platform/ranked_mutex.h"

namespace fallow::device {

namespace {

constexpr const char* kActions[] = {"allocate", "allocate failure", "free"};
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

/// The next field of a line, without the comma behind it.
std::string_view next_field(std::string_view& rest) {
  const std::size_t comma = rest.find(',');
  const std::string_view field = rest.substr(0, comma);
  rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  return field;
}

/// A number in decimal, or in hexadecimal with 0x.
bool parse_number(std::string_view text, std::uint64_t& number) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stopped == end && !text.empty();
}

}  // namespace

const char* trace_header() noexcept { return "Thread,Time,Action,Pointer,Size,Stream"; }

namespace {

using LineText = std::array<char, 192>;

std::size_t format_line(const TraceEvent& event, LineText& line) noexcept {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto seconds = static_cast<std::time_t>(event.time_ns / kSecond);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  const int length = std::snprintf(
      line.data(), line.size(), "%llu,%02d:%02d:%02d.%06llu,%s,0x%llx,%llu,%u\n",
      static_cast<unsigned long long>(event.thread), utc.tm_hour, utc.tm_min, utc.tm_sec,
      static_cast<unsigned long long>(event.time_ns % kSecond / 1000),
      kActions[static_cast<std::size_t>(event.action)],
      static_cast<unsigned long long>(event.allocation),
      static_cast<unsigned long long>(event.bytes), static_cast<unsigned>(event.stream));
  return static_cast<std::size_t>(length);
}

}  // namespace

std::string trace_line(const TraceEvent& event) {
  LineText line;
  return {line.data(), format_line(event, line)};
}

bool parse_trace_line(const std::string& line, TraceEvent& event) {
  std::string_view rest = line;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  if (!parse_number(next_field(rest), event.thread)) return false;
  next_field(rest);
  const std::string_view action = next_field(rest);
  const auto* const known = std::find_if(std::begin(kActions), std::end(kActions),
                                         [action](const char* each) { return action == each; });
  if (known == std::end(kActions)) return false;
  event.action = static_cast<TraceEvent::Action>(known - std::begin(kActions));
  // RMM writes (nil) for the pointer of a failure.
  const std::string_view pointer = next_field(rest);
  event.allocation = 0;
  if (pointer != "(nil)" && !parse_number(pointer, event.allocation)) return false;
  std::uint64_t stream = 0;
  if (!parse_number(next_field(rest), event.bytes)) return false;
  if (!rest.empty() && rest != "(nil)" && !parse_number(rest, stream)) return false;
  event.stream = static_cast<StreamId>(stream);
  return true;
}

struct CsvTrace::File {
  mutable platform::RankedMutex mutex{platform::LockRank::kDeviceTrace, "device trace"};
  platform::OutputFile output;
  std::string buffer;
  std::string error;

  void write_buffer() noexcept {
    if (error.empty()) error = output.write(buffer);
    buffer.clear();
  }
};

CsvTrace::CsvTrace(const std::string& path) : file_(std::make_unique<File>()) {
  const std::string problem = file_->output.open(path);
  if (!problem.empty()) throw Error("fallow: " + problem);
  file_->buffer.reserve(kBufferBytes);
  file_->buffer = std::string(trace_header()) + "\n";
}

CsvTrace::~CsvTrace() { flush(); }

void CsvTrace::on_event(const TraceEvent& event) noexcept {
  LineText line;
  const std::size_t length = format_line(event, line);
  const std::scoped_lock lock(file_->mutex);
  // The buffer never grows, so that nothing here needs memory.
  if (file_->buffer.size() + length > kBufferBytes) file_->write_buffer();
  file_->buffer.append(line.data(), length);
}

void CsvTrace::flush() noexcept {
  const std::scoped_lock lock(file_->mutex);
  file_->write_buffer();
}

std::string CsvTrace::error() const {
  const std::scoped_lock lock(file_->mutex);
  return file_->error;
}

}  // namespace fallow::device
