#pragma once

#include <cstdint>
#include <memory>

#include "device/block.h"
#include "fallow/device_options.h"

namespace fallow::device::detail {

/// The free blocks of a region, and which of them serves a request. Sizes are multiples of the
/// granule. Needs no memory of its own beyond its construction. Belongs to the holder of the
/// device's mutex.
class FitAlgorithm {
 public:
  virtual ~FitAlgorithm() = default;
  /// A free block of at least `bytes`, or null. It stays in the books. A strategy that promises
  /// O(1) may miss one, unless it is to be thorough.
  [[nodiscard]] virtual Block* find(std::uint64_t bytes, bool thorough) const noexcept = 0;
  virtual void insert(Block* block) noexcept = 0;
  virtual void remove(Block* block) noexcept = 0;
  /// Bytes of the largest free block.
  [[nodiscard]] virtual std::uint64_t largest() const noexcept = 0;
};

std::unique_ptr<FitAlgorithm> make_fit(FitStrategy strategy, unsigned granule_shift);

}  // namespace fallow::device::detail
