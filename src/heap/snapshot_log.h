#pragma once

#include <cstddef>

#include "fallow/object.h"
#include "heap/push_buffer.h"

namespace fallow::detail {

class FullCycle;

/// Old values that a mutator's write barrier has seen vanish while a cycle marks: the part of the
/// snapshot that the collector would no longer find. One per mutator, so that noting takes no lock.
///
/// Values are noted unseen, since looking at each one's mark would miss the cache each time. A full
/// batch is claimed at once, the marks fetched ahead: what was not marked yet becomes marked and
/// waits to be scanned, the rest is forgotten. So the log cannot outgrow the number of objects,
/// however often the program stores, and the collector scans no object twice.
class SnapshotLog {
 public:
  /// `object` is in the old space or large. Without memory the cycle learns of it in another way.
  void add(Object* object, FullCycle& cycle) noexcept;
  /// Moves all of `other` into this log.
  void absorb(SnapshotLog& other, FullCycle& cycle) noexcept;
  void clear() noexcept;
  /// For the collector: looks at what is noted and returns all that has to be scanned.
  [[nodiscard]] PushBuffer<Object*>& take(FullCycle& cycle) noexcept {
    claim_noted(cycle);
    return claimed_;
  }

 private:
  /// Looking at so many takes some ten microseconds.
  static constexpr std::size_t kBatch = 512;

  void claim_noted(FullCycle& cycle) noexcept;

  PushBuffer<Object*> noted_;
  PushBuffer<Object*> claimed_;
};

}  // namespace fallow::detail
