#pragma once

#include <cstddef>

#include "platform/virtual_memory.h"

namespace fallow::profile {

/// A fixed range of zeroed memory outside malloc, whose pages are taken when they are touched. Kept
/// for the life of the process: code that runs late may still look at it.
template <class T>
class LazyMemory {
 public:
  /// False when the system refuses. Once.
  [[nodiscard]] bool allocate(std::size_t count) noexcept {
    const std::size_t page = platform::page_size();
    const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    void* const memory = platform::reserve(bytes, 0);
    if (memory == nullptr) return false;
    if (!platform::commit(memory, bytes)) {
      platform::release(memory, bytes);
      return false;
    }
    platform::advise_huge_pages(memory, bytes, false);
    platform::name_range(memory, bytes, "fallow profile");
    items_ = static_cast<T*>(memory);
    bytes_ = bytes;
    return true;
  }
  /// Zeroes everything and gives the pages back.
  void clear() noexcept {
    if (items_ != nullptr) platform::decommit(items_, bytes_);
  }
  void release() noexcept {
    if (items_ != nullptr) platform::release(items_, bytes_);
    items_ = nullptr;
    bytes_ = 0;
  }

  [[nodiscard]] bool is_allocated() const noexcept { return items_ != nullptr; }
  [[nodiscard]] T* get() const noexcept { return items_; }
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return items_[index]; }

 private:
  T* items_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fallow::profile
