#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace fallow::detail {

/// A growable array of plain values whose push never throws: it reports failure, so that write
/// barriers and the collector can go on in another way when the system has no memory.
template <class T>
class PushBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PushBuffer() = default;
  ~PushBuffer() { std::free(items_); }
  PushBuffer(const PushBuffer&) = delete;
  PushBuffer& operator=(const PushBuffer&) = delete;

  [[nodiscard]] bool push(T value) noexcept {
    if (size_ == capacity_ && !grow()) return false;
    items_[size_++] = value;
    return true;
  }
  /// All or, without memory, none of [first, last).
  [[nodiscard]] bool append(const T* first, const T* last) noexcept {
    const auto count = static_cast<std::size_t>(last - first);
    if (!reserve(size_ + count)) return false;
    std::copy(first, last, items_ + size_);
    size_ += count;
    return true;
  }
  T pop() noexcept { return items_[--size_]; }
  /// Room for `count` values without growing; false when there is no memory.
  [[nodiscard]] bool reserve(std::size_t count) noexcept {
    while (capacity_ < count) {
      if (!grow()) return false;
    }
    return true;
  }
  void swap(PushBuffer& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void resize_down(std::size_t size) noexcept { size_ = size; }
  /// Empties the buffer; keeps a little memory, gives back a lot.
  void clear() noexcept {
    size_ = 0;
    if (capacity_ * sizeof(T) <= kKeptBytes) return;
    std::free(items_);
    items_ = nullptr;
    capacity_ = 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }
  const T* begin() const noexcept { return items_; }
  const T* end() const noexcept { return items_ + size_; }
  T& operator[](std::size_t index) noexcept { return items_[index]; }

 private:
  static constexpr std::size_t kFirstCapacity = 256;
  static constexpr std::size_t kKeptBytes = std::size_t{4} << 20;

  [[gnu::noinline]] bool grow() noexcept {
    const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
    void* const items = std::realloc(static_cast<void*>(items_), capacity * sizeof(T));
    if (items == nullptr) return false;
    items_ = static_cast<T*>(items);
    capacity_ = capacity;
    return true;
  }

  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace fallow::detail
