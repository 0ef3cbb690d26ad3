// Recording where a program allocates, what becomes of it, and where its time goes.
//
//     fallow::profile::Recorder recorder({.file = "app.fallow"});
//     recorder.start();            // all heaps of the process, those to come included
//     …
//     recorder.stop();             // or the end of the process
//
// Programs that link fallow::profile need none of this: FALLOW_PROFILE=FILE in the environment
// records them. docs/profile.md is the guide, docs/recording.md the format of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fallow/error.h"
#include "fallow/profile_frame.h"
#include "fallow/sample.h"

namespace fallow {

class Heap;

namespace profile {

/// How the native stack of a sample is found.
enum class NativeStacks : std::uint8_t {
  /// By frame pointers: about a nanosecond a frame. Code built without -fno-omit-frame-pointer
  /// hides its callers, one or all of them.
  kFramePointers,
  /// By libunwind's cache, some 10 ns a frame; needs libunwind.so.8 (package libunwind8).
  kFast,
  /// The raw stack is copied into the file, up to 16 KiB a sample, and unwound by the reader.
  kCopy,
  kOff  ///< only the embedder's frames
};

/// Which time is sampled beside allocations.
enum class TimeSampling : std::uint8_t {
  kOff,
  kCpu,  ///< a timer for each thread, on its own CPU clock
  kWall  ///< a timer for each thread, on the wall clock: waiting counts
};

/// Members beyond `file` may stay as they are.
struct RecorderOptions {
  /// Where the recording goes. "%p" becomes the process id.
  std::string file;
  /// Replace a file that exists. Otherwise it is left alone and start() refuses.
  bool overwrite = false;
  /// Mean distance of samples in bytes, 1 to 2^40; 0: as `budget` permits, beginning with 512 KiB.
  std::size_t interval_bytes = 0;
  /// Part of the process's CPU time that recording may take, above 0 to 0.5. Each second the
  /// interval is doubled when more was paid, and halved when far less was; 4 KiB at the least.
  /// Not used with an interval of one's own.
  double budget = 0.01;
  /// All random numbers derive from this.
  std::uint64_t seed = 0;
  NativeStacks native = NativeStacks::kFramePointers;
  TimeSampling time = TimeSampling::kOff;
  /// Between two samples of a thread's time, 100 µs to 10 s.
  std::uint64_t time_interval_ns = 1'000'000;
  /// Upper bound of the file's size, at least 64 KiB; 0: none. The interval is doubled on the way
  /// there, so that a long run ends with a sparse recording and not with a cut one.
  std::uint64_t max_file_bytes = 0;
  /// What a crash may cost: 1 ms to 60 s. Events are also written whenever 64 KiB have come
  /// together.
  std::uint64_t flush_interval_ns = 1'000'000'000;
  /// Children made by fork record into FILE.PID of their own. Otherwise they do not record; the
  /// parent's file is never touched by a child.
  bool follow_fork = false;
  /// Heaps of the process are attached by themselves.
  bool all_heaps = true;

  /// The text of FALLOW_PROFILE: FILE, then ",key=value" …, for example
  /// "app.fallow,every=64K,native=off,force". Keys: every, budget (1% or 0.01), seed, native (fp,
  /// fast, copy, off), time (off, or a rate such as 1000Hz), clock (cpu, wall), max-size, flush
  /// (with us, ms or s), follow-fork, force. Throws OptionError.
  static RecorderOptions from_text(std::string_view text);
};

/// The file cannot be used; nothing was changed.
class FileError : public Error {
 public:
  enum class Reason : std::uint8_t {
    kExists,       ///< and RecorderOptions::overwrite is off
    kDirectory,    ///< it is a directory
    kNoReader,     ///< a FIFO that nobody reads
    kReadOnly,     ///< no right to write there, or a read-only file system
    kNoDirectory,  ///< a part of its path does not exist
    kOther
  };
  FileError(const std::string& text, std::string path, Reason reason)
      : Error(text), path_(std::move(path)), reason_(reason) {}
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] Reason reason() const noexcept { return reason_; }

 private:
  std::string path_;
  Reason reason_;
};

/// Of the recording that runs, or of the last one.
struct RecorderStatus {
  enum class State : std::uint8_t {
    kIdle,       ///< start() has not been called
    kRecording,  ///<
    kStopped,    ///< by stop()
    kSizeLimit,  ///< the file has reached max_file_bytes
    kFailed,     ///< see error
    kForked      ///< this process is a child that does not record
  };
  State state = State::kIdle;
  std::string file;
  std::string error;          ///< why writing ended, for example a full disk; or empty
  std::uint64_t samples = 0;  ///< of allocations
  std::uint64_t lost = 0;     ///< of those, not in the file; each is counted there
  std::uint64_t time_samples = 0;
  std::uint64_t lost_time_samples = 0;
  std::size_t interval_bytes = 0;     ///< in force
  std::uint64_t file_bytes = 0;       ///< written so far
  std::uint64_t memory_bytes = 0;     ///< held by the recorder, at most 64 MiB
  std::uint64_t elapsed_ns = 0;       ///< since start()
  std::uint64_t sampling_cpu_ns = 0;  ///< inside samples, on the program's threads; an estimate
  std::uint64_t writing_cpu_ns = 0;   ///< of the thread that writes
  std::uint64_t process_cpu_ns = 0;   ///< of the whole process since start()

  /// Part of the process's CPU time that recording has taken; 0 before any was measured.
  [[nodiscard]] double cost() const noexcept {
    return process_cpu_ns == 0 ? 0
                               : static_cast<double>(sampling_cpu_ns + writing_cpu_ns) /
                                     static_cast<double>(process_cpu_ns);
  }
};

/// Writes a recording. One recording runs in a process at a time; it takes samples from any number
/// of allocators at once, since a Recorder is a SampleSink.
///
/// All members are thread-safe. The destructor stops. At the end of the process a recording that
/// still runs is completed by an exit handler; what a kill leaves behind can be read up to the last
/// flush. A full disk, a vanished reader or a size limit end the recording and never the program:
/// see status(). Nothing is ever printed.
class Recorder final : public SampleSink {
 public:
  /// Throws OptionError for values out of range.
  explicit Recorder(RecorderOptions options);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Creates the file and begins. Throws FileError; UsageError when a recording runs already in
  /// this process; Error when the system refuses memory or a thread, or `native` needs a library
  /// that is not there. May be called again after stop(), which makes a new recording of its file.
  void start();
  /// Ends and completes the recording; nothing if none runs. Returns when all is written.
  void stop();
  /// Writes now what has been recorded until now. Returns when it is written.
  void flush();

  /// Samples this heap and listens to its collections. Only needed without all_heaps. A heap that
  /// is sampled into another sink already is left alone: throws UsageError.
  void attach(Heap& heap);
  /// Before the heap is destroyed.
  void detach(Heap& heap);

  [[nodiscard]] RecorderStatus status() const;
  [[nodiscard]] const RecorderOptions& options() const noexcept;
  /// The interval that samples should be taken with now: it moves under a budget or a size limit.
  /// For allocators of one's own; heaps are told. 0 while nothing is recorded. A load.
  [[nodiscard]] std::size_t interval_bytes() const noexcept;

  /// For allocators of one's own. The id is 0 while nothing is recorded, and for lost samples.
  SampleId on_sample(const AllocationSample& sample) noexcept override;
  void on_minor(std::uint64_t gc, std::span<const SampleFate> fates) noexcept override;
  void on_died(std::uint64_t gc, std::span<const SampleId> ids) noexcept override;
  void on_untracked(std::span<const SampleId> ids) noexcept override;
  /// The memory of a sample was freed just now, by an explicit call.
  void on_freed(SampleId id) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profile
}  // namespace fallow
