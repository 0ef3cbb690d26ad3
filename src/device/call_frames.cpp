#include "device/call_frames.h"

namespace fallow::device::detail {

namespace {
thread_local constinit ThreadFrame* innermost = nullptr;
}  // namespace

ThreadFrame::ThreadFrame(const void* what) noexcept : what_(what), outer_(innermost) {
  innermost = this;
}

ThreadFrame::~ThreadFrame() { innermost = outer_; }

std::uint32_t ThreadFrame::depth(const void* what) noexcept {
  std::uint32_t count = 0;
  for (const ThreadFrame* frame = innermost; frame != nullptr; frame = frame->outer_) {
    if (frame->what_ == what) ++count;
  }
  return count;
}

}  // namespace fallow::device::detail
