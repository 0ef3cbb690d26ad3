#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "device/fit_algorithm.h"

namespace fallow::device::detail {

/// Free blocks in lists by size: a first level by powers of two, each divided into 32 lists, and
/// bit maps of the lists that are not empty. After "TLSF: a new dynamic memory allocator for
/// real-time systems" (Masmano, Ripoll, Crespo, Real, 2004).
///
/// With `best`, find() gives the smallest block that fits. Otherwise it is O(1): any block of the
/// first list whose blocks all fit, or, if there is none, one of the first few of the list before;
/// of all of that list if it is to be thorough.
class SegregatedFit final : public FitAlgorithm {
 public:
  SegregatedFit(unsigned granule_shift, bool best) noexcept : shift_(granule_shift), best_(best) {}
  [[nodiscard]] Block* find(std::uint64_t bytes, bool thorough) const noexcept override;
  void insert(Block* block) noexcept override;
  void remove(Block* block) noexcept override;
  [[nodiscard]] std::uint64_t largest() const noexcept override;

 private:
  static constexpr unsigned kSecondBits = 5;
  static constexpr std::uint64_t kSecond = std::uint64_t{1} << kSecondBits;
  static constexpr unsigned kFirstLevels = 64 - kSecondBits;
  /// Blocks looked at in a list whose blocks need not all fit.
  static constexpr std::size_t kLookedAt = 8;

  /// A list: its two levels.
  struct Bin {
    unsigned first;
    unsigned second;
  };
  /// The list of the blocks of this size. Sizes below 32 granules have a list each.
  [[nodiscard]] Bin bin_of(std::uint64_t bytes) const noexcept {
    const std::uint64_t granules = bytes >> shift_;
    if (granules < kSecond) return {0, static_cast<unsigned>(granules)};
    const auto top = static_cast<unsigned>(std::bit_width(granules)) - 1;
    return {top - kSecondBits + 1,
            static_cast<unsigned>((granules >> (top - kSecondBits)) & (kSecond - 1))};
  }
  /// The first list, from `from` on, that is not empty; first == kFirstLevels if all are.
  [[nodiscard]] Bin next_filled(Bin from) const noexcept;
  [[nodiscard]] Block* first_fitting(Bin bin, std::uint64_t bytes,
                                     std::size_t looked_at) const noexcept;
  [[nodiscard]] Block* best_in(Bin bin, std::uint64_t bytes) const noexcept;

  const unsigned shift_;
  const bool best_;
  std::uint64_t filled_ = 0;  ///< first levels that have a block
  std::array<std::uint32_t, kFirstLevels> filled_lists_{};
  std::array<std::array<Block*, kSecond>, kFirstLevels> lists_{};
};

}  // namespace fallow::device::detail
