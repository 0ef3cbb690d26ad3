#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fallow::detail {

/// Cell sizes of the old space: steps of 8 bytes up to 128, then eight steps per doubling, so that
/// rounding wastes at most 1/9 of a cell. All classes above 128 are multiples of 16.
inline constexpr std::size_t kMaxSmallBytes = 8192;
inline constexpr std::uint8_t kNoSizeClass = 255;
inline constexpr std::size_t kLinearClassLimit = 128;
inline constexpr std::size_t kLinearClasses = kLinearClassLimit / 8 - 1;  // 16, 24, … 128
/// 144 … 8192, and one for the largest objects with an identity hash behind them.
inline constexpr std::size_t kSizeClassCount = kLinearClasses + 6 * 8 + 1;
inline constexpr std::uint8_t kOverlongClass = kSizeClassCount - 1;

constexpr std::array<std::uint16_t, kSizeClassCount> make_cell_bytes() {
  std::array<std::uint16_t, kSizeClassCount> table{};
  std::size_t index = 0;
  for (std::size_t bytes = 16; bytes <= kLinearClassLimit; bytes += 8) {
    table[index++] = static_cast<std::uint16_t>(bytes);
  }
  for (std::size_t base = kLinearClassLimit; base < kMaxSmallBytes; base *= 2) {
    for (std::size_t step = 1; step <= 8; ++step) {
      table[index++] = static_cast<std::uint16_t>(base + base / 8 * step);
    }
  }
  table[kOverlongClass] = kMaxSmallBytes + 16;
  return table;
}

inline constexpr std::array<std::uint16_t, kSizeClassCount> kCellBytes = make_cell_bytes();
static_assert(kCellBytes[kSizeClassCount - 2] == kMaxSmallBytes);

/// The class whose cells hold `bytes` at the given alignment (8 or 16); kNoSizeClass above
/// kMaxSmallBytes. O(1).
constexpr std::uint8_t size_class_of(std::size_t bytes, std::size_t alignment = 8) {
  if (alignment > 8) bytes = (bytes + 15) & ~std::size_t{15};
  if (bytes <= 16) return 0;
  if (bytes <= kLinearClassLimit) return static_cast<std::uint8_t>((bytes + 7) / 8 - 2);
  if (bytes > kMaxSmallBytes) return kNoSizeClass;
  const auto top_bit = static_cast<std::size_t>(63 - __builtin_clzll(bytes - 1));
  const std::size_t base = std::size_t{1} << top_bit;
  const std::size_t step = (bytes - base + base / 8 - 1) / (base / 8);
  return static_cast<std::uint8_t>(kLinearClasses + (top_bit - 7) * 8 + step - 1);
}

}  // namespace fallow::detail
