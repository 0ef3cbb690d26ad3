#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace fallow::detail {

/// Hands out spans of an address range: best fit, lowest address first, neighbours merge on
/// release. Keeps its books outside the range. O(log spans). Not thread-safe. Throws
/// std::bad_alloc.
class SpanAllocator {
 public:
  SpanAllocator() = default;
  SpanAllocator(std::uintptr_t base, std::size_t bytes, std::size_t granule);

  /// A span of at least `bytes`, rounded up to the granule; 0 when no free span is large enough.
  std::uintptr_t allocate(std::size_t bytes);
  void release(std::uintptr_t start, std::size_t bytes);

  [[nodiscard]] std::size_t granule() const noexcept { return granule_; }
  [[nodiscard]] std::size_t round_up(std::size_t bytes) const noexcept {
    return (bytes + granule_ - 1) / granule_ * granule_;
  }

  /// Calls visit(start, bytes) for every free span below `end`, in address order.
  template <class Visit>
  void for_each_free(std::uintptr_t end, Visit&& visit) const {
    for (const auto& [start, bytes] : by_address_) {
      if (start >= end) break;
      visit(start, start + bytes > end ? end - start : bytes);
    }
  }

 private:
  void insert(std::uintptr_t start, std::size_t bytes);
  void erase(std::map<std::uintptr_t, std::size_t>::iterator span);

  std::size_t granule_ = 1;
  std::map<std::uintptr_t, std::size_t> by_address_;
  std::set<std::pair<std::size_t, std::uintptr_t>> by_size_;
};

}  // namespace fallow::detail
