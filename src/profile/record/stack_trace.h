#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/format/recording_format.h"

namespace fallow::profile {

/// One entry of a call stack, as the frame trie stores it.
struct StackEntry {
  std::uint64_t value;  ///< with the kind in the two highest bits
  std::uint32_t detail;

  static constexpr unsigned kKindShift = 62;
  static constexpr std::uint64_t kValueMask = (std::uint64_t{1} << kKindShift) - 1;

  static constexpr StackEntry of(NodeKind kind, std::uint64_t value,
                                 std::uint32_t detail = 0) noexcept {
    return {static_cast<std::uint64_t>(kind) << kKindShift | (value & kValueMask), detail};
  }
  [[nodiscard]] constexpr NodeKind kind() const noexcept {
    return static_cast<NodeKind>(value >> kKindShift);
  }
};

/// A call stack from the innermost function outwards, of which a deep one keeps both ends.
///
/// Not thread-safe. Needs no memory but itself; usable in signal handlers.
class StackTrace {
 public:
  static constexpr std::size_t kLeafFrames = 200;
  static constexpr std::size_t kRootFrames = 40;

  void add(StackEntry entry) noexcept {
    if (leaves_ < kLeafFrames) {
      leaf_[leaves_++] = entry;
      hash_ = mixed(hash_, entry);
    } else {
      root_[roots_++ % kRootFrames] = entry;
    }
  }

  [[nodiscard]] std::size_t leaves() const noexcept { return leaves_; }
  [[nodiscard]] const StackEntry& leaf(std::size_t index) const noexcept { return leaf_[index]; }
  /// Entries kept of the outer end, beyond the leaves.
  [[nodiscard]] std::size_t roots() const noexcept {
    return roots_ < kRootFrames ? roots_ : kRootFrames;
  }
  /// 0 is the one next to the leaves.
  [[nodiscard]] const StackEntry& root(std::size_t index) const noexcept {
    return root_[roots_ < kRootFrames ? index : (roots_ + index) % kRootFrames];
  }
  /// Whether something is missing between leaves and roots.
  [[nodiscard]] bool is_cut() const noexcept { return roots_ > kRootFrames; }
  [[nodiscard]] std::size_t depth() const noexcept { return leaves_ + roots_; }
  /// Frames in between that the walk has not looked at.
  void skip() noexcept { roots_ = kRootFrames * 2; }

  /// Of everything kept; never 0.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t hash = hash_;
    for (std::size_t i = 0; i < roots(); ++i) hash = mixed(hash, root(i));
    hash ^= hash >> 32;
    hash = (hash + (is_cut() ? 1 : 0)) * kMultiplier;
    return hash | 1;
  }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9fb21c651e98df25;  // of SplitMix-like mixers

  static constexpr std::uint64_t mixed(std::uint64_t hash, StackEntry entry) noexcept {
    // A polynomial: its terms are mixed at the end, since each step waits for the one before.
    return hash * kMultiplier + (entry.value ^ (std::uint64_t{entry.detail} << 20));
  }

  std::size_t leaves_ = 0;
  std::size_t roots_ = 0;
  std::uint64_t hash_ = 0x2545f4914f6cdd1d;
  std::array<StackEntry, kLeafFrames> leaf_;  // NOLINT(*-member-init): written before it is read
  std::array<StackEntry, kRootFrames> root_;  // NOLINT(*-member-init)
};

}  // namespace fallow::profile
