#pragma once

#include <cstddef>

#include "heap/life_entry.h"

namespace fallow::detail {

/// What a mutator has registered since the last minor collection. Its own, so that registering
/// takes no lock.
struct YoungLives {
  EntryChain weak;          ///< Weak objects
  EntryChain destructible;  ///< objects with destructors
  EntryChain finalizable;   ///< objects with finalizers, which may be old
  std::size_t ephemerons = 0;
  EntryChain free;  ///< entries for the next registrations

  [[nodiscard]] bool empty() const noexcept {
    return weak.empty() && destructible.empty() && finalizable.empty() && ephemerons == 0;
  }
  /// All but the free entries.
  void absorb(YoungLives& other) noexcept {
    weak.splice(other.weak);
    destructible.splice(other.destructible);
    finalizable.splice(other.finalizable);
    ephemerons += other.ephemerons;
    other.ephemerons = 0;
  }
};

}  // namespace fallow::detail
