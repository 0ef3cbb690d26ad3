// A record of what a device was asked, in the CSV form in which RMM writes and replays its logs:
//
//     Thread,Time,Action,Pointer,Size,Stream
//     4711,12:34:56.789012,allocate,0x1f,4096,0
//
// Action is "allocate", "allocate failure" or "free". Pointer is Allocation::number(), never used
// twice, in hexadecimal. Size is what was asked for, and the same again at the free.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fallow/device_types.h"

namespace fallow::device {

struct TraceEvent {
  enum class Action : std::uint8_t { kAllocate, kAllocateFailure, kFree };
  Action action = Action::kAllocate;
  std::uint64_t thread = 0;      ///< the system's number
  std::uint64_t time_ns = 0;     ///< of the system's clock, since 1970
  std::uint64_t allocation = 0;  ///< its number; 0 for a failure
  std::uint64_t bytes = 0;
  StreamId stream = 0;  ///< of a free that waits for a stream
};

/// Told of every allocation after it was made and of every free before it takes effect, without any
/// lock of the device, by the thread that did it. May use the device; what it does there is not
/// told. Must not throw.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on_event(const TraceEvent& event) noexcept = 0;
};

/// A line of the CSV form, with its end.
std::string trace_line(const TraceEvent& event);
/// The first line.
const char* trace_header() noexcept;
/// Reads a line; false when it is none of the form. The header is none. Times are not read.
bool parse_trace_line(const std::string& line, TraceEvent& event);

/// Writes the CSV form into a file. Thread-safe. Throws Error when it cannot be opened; what cannot
/// be written later is told by error().
class CsvTrace : public TraceSink {
 public:
  explicit CsvTrace(const std::string& path);
  ~CsvTrace() override;
  void on_event(const TraceEvent& event) noexcept override;
  /// Writes what is buffered.
  void flush() noexcept;
  /// Why events were lost, or empty.
  [[nodiscard]] std::string error() const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace fallow::device
