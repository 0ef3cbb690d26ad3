#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace fallow::profile {

/// Which of several things lies at an address, when a later one takes the place of earlier ones.
class AddressMap {
 public:
  /// From `start` up to `end`; what overlaps it is gone. O(log n) and what goes.
  void add(std::uint64_t start, std::uint64_t end, std::uint32_t number) {
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second.end > start) next = ranges_.erase(before);
    }
    while (next != ranges_.end() && next->first < end) next = ranges_.erase(next);
    ranges_[start] = {end, number};
  }

  /// 0 for none.
  [[nodiscard]] std::uint32_t at(std::uint64_t address) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return 0;
    const Range& range = std::prev(after)->second;
    return address < range.end ? range.number : 0;
  }

 private:
  struct Range {
    std::uint64_t end;
    std::uint32_t number;
  };
  std::map<std::uint64_t, Range> ranges_;
};

}  // namespace fallow::profile
