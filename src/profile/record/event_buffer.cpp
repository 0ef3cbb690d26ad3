#include "profile/record/event_buffer.h"

namespace fallow::profile {

bool BufferPool::allocate() noexcept {
  return buffers_.is_allocated() || buffers_.allocate(kBuffers);
}

void BufferPool::clear() noexcept {
  const std::lock_guard lock(mutex_);
  buffers_.clear();
  fresh_ = 0;
  used_ = 0;
  free_ = first_ = last_ = nullptr;
}

EventBuffer* BufferPool::take(std::uint32_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  EventBuffer* buffer = free_;
  if (buffer != nullptr) {
    free_ = buffer->next;
  } else if (fresh_ < kBuffers) {
    buffer = &buffers_[fresh_++];
  } else {
    return nullptr;
  }
  ++used_;
  buffer->next = nullptr;
  buffer->stream = stream;
  buffer->used = 0;
  buffer->last_ns = 0;
  return buffer;
}

void BufferPool::submit(EventBuffer* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  buffer->next = nullptr;
  (last_ == nullptr ? first_ : last_->next) = buffer;
  last_ = buffer;
}

EventBuffer* BufferPool::collect() noexcept {
  const std::lock_guard lock(mutex_);
  EventBuffer* const all = first_;
  first_ = last_ = nullptr;
  return all;
}

void BufferPool::give_back(EventBuffer* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  buffer->next = free_;
  free_ = buffer;
  --used_;
}

bool BufferPool::has_submitted() noexcept {
  const std::lock_guard lock(mutex_);
  return first_ != nullptr;
}

bool BufferPool::is_short() noexcept {
  const std::lock_guard lock(mutex_);
  return used_ > kBuffers / 2;
}

std::size_t BufferPool::memory_bytes() noexcept {
  const std::lock_guard lock(mutex_);
  return fresh_ * EventBuffer::kWholeBytes;
}

}  // namespace fallow::profile
