// How an embedded language shows its own call stack, and code made at run time, to the profile.
//
// An interpreter puts a Frame on the C++ stack for each call of its language:
//
//     const FunctionId id = register_function({.name = "fib", .file = "fib.py", .first_line = 1,
//                                              .lines = table});          // once
//     void run(Code& code) {
//       Frame frame(code.id);
//       for (;;) {
//         frame.set_position(pc);   // a store; where the function is
//         …
//
// Samples have these frames between the native ones: a Frame counts as called by the native
// function in whose stack frame it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fallow::profile {

/// A function of an embedded language; 0 is none. Valid until the end of the process.
enum class FunctionId : std::uint32_t { kNone = 0 };

/// From this position on (up to the next pair's) code belongs to this line.
struct PositionLine {
  std::uint32_t position;
  std::uint32_t line;
};

struct FunctionInfo {
  std::string_view name;  ///< UTF-8 if possible; any bytes are kept
  std::string_view file;
  std::uint32_t first_line = 0;         ///< 0: not known
  std::span<const PositionLine> lines;  ///< ascending by position; may be empty
};

/// Makes a function known; everything is copied. Any thread, whether or not anything is recorded.
/// Takes memory until the end of the process; one registration for each function, not each call.
/// O(size of the info). kNone when there is no memory.
FunctionId register_function(const FunctionInfo& info) noexcept;

/// Code made at run time (by a JIT compiler): samples in it get this name. Any thread; at the
/// latest before the code is unmapped comes unregister_code(). The perf map file of the process,
/// /tmp/perf-PID.map, is read as well, when there is one.
void register_code(std::string_view name, const void* start, std::size_t bytes) noexcept;
void unregister_code(const void* start) noexcept;

/// A call of an embedded function, from construction to destruction. Frames of a thread nest. Lies
/// on the native stack, where samples find it between the native frames; elsewhere it counts as
/// the innermost. Costs two loads and three stores.
class Frame {
 public:
  explicit Frame(FunctionId function) noexcept;
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Where in the function the call is, in the unit of FunctionInfo::lines. A store.
  void set_position(std::uint32_t position) noexcept { position_ = position; }

  [[nodiscard]] const Frame* previous() const noexcept { return previous_; }
  [[nodiscard]] FunctionId function() const noexcept { return function_; }
  [[nodiscard]] std::uint32_t position() const noexcept { return position_; }
  /// The calling thread's innermost frame, or null.
  [[nodiscard]] static const Frame* innermost() noexcept;

 private:
  Frame* previous_;
  FunctionId function_;
  volatile std::uint32_t position_ = 0;  // read by a signal handler of the same thread
};

/// For the time during which the calling thread runs on a stack of its own making (a fiber): where
/// that stack lies, as [low, high). Null bounds: the thread's own stack again. Stacks outside the
/// known bounds are not walked. O(1).
void set_stack_bounds(const void* low, const void* high) noexcept;

namespace detail {
/// Kept by the library: what a thread has to do with the profile.
struct ThreadFrames {
  Frame* innermost = nullptr;
};
extern thread_local constinit ThreadFrames thread_frames [[gnu::tls_model("initial-exec")]];
}  // namespace detail

inline Frame::Frame(FunctionId function) noexcept
    : previous_(detail::thread_frames.innermost), function_(function) {
  asm volatile("" : : : "memory");  // complete before a handler can see it
  detail::thread_frames.innermost = this;
}
inline Frame::~Frame() { detail::thread_frames.innermost = previous_; }
inline const Frame* Frame::innermost() noexcept { return detail::thread_frames.innermost; }

}  // namespace fallow::profile
