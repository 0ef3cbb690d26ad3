#pragma once

#include "device/fit_algorithm.h"

namespace fallow::device::detail {

/// Free blocks in one list by address; the first that fits serves. O(blocks).
class FirstFit final : public FitAlgorithm {
 public:
  [[nodiscard]] Block* find(std::uint64_t bytes, bool thorough) const noexcept override;
  void insert(Block* block) noexcept override;
  void remove(Block* block) noexcept override;
  [[nodiscard]] std::uint64_t largest() const noexcept override;

 private:
  Block* first_ = nullptr;
};

}  // namespace fallow::device::detail
