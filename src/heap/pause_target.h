#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::detail {

/// Chooses how much of the nursery is handed out between two minor collections, so that a whole
/// pause stays within a target: what a byte of nursery has cost at most lately, forgotten slowly,
/// says how many bytes a pause can afford. Pure arithmetic, so that tests can play a program's
/// survival through it.
class PauseTarget {
 public:
  /// `target_ns` 0: no target, and the whole nursery.
  PauseTarget(std::uint64_t target_ns, std::size_t nursery_bytes) noexcept
      : target_ns_(target_ns), nursery_bytes_(nursery_bytes), young_bytes_(affordable()) {}

  [[nodiscard]] bool is_set() const noexcept { return target_ns_ != 0; }
  [[nodiscard]] std::size_t young_bytes() const noexcept { return young_bytes_; }
  /// A minor collection of a nursery in which `bytes` were used took `ns`.
  void learn(std::size_t bytes, std::uint64_t ns) noexcept;
  /// What a minor collection of `minor_ns` has left of the pause for a step of a full collection
  /// that wants `wanted_ns`.
  [[nodiscard]] std::uint64_t step_allowance(std::uint64_t wanted_ns,
                                             std::uint64_t minor_ns) const noexcept;

 private:
  /// Copying everything costs about so much when the memory for it is fresh; the start.
  static constexpr double kFirstGuess = 1.5;

  [[nodiscard]] std::size_t affordable() const noexcept;

  const std::uint64_t target_ns_;
  const std::size_t nursery_bytes_;
  double ns_per_byte_ = kFirstGuess;
  std::size_t young_bytes_;
};

}  // namespace fallow::detail
