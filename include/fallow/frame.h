#pragma once

#include <cstddef>

#include "fallow/mutator.h"

namespace fallow {

/// Receives the addresses of root slots from a RootProvider during a collection.
class RootVisitor {
 public:
  using Function = void (*)(void* context, Object** slot);
  RootVisitor(Function function, void* context) noexcept : function_(function), context_(context) {}
  /// Reports one slot; it may hold null, and the collector may change it during the call.
  void visit(Object** slot) const { function_(context_, slot); }

 private:
  Function function_;
  void* context_;
};

/// How a compiler or interpreter shows its own stack to the collector: at every collection
/// visit_roots() reports each slot that holds a reference, found for instance through stack maps.
/// Called while all mutators are stopped, on the collecting thread: it must not allocate managed
/// memory, wait, or throw. Every live slot must be reported at every collection.
class RootProvider {
 public:
  virtual ~RootProvider() = default;
  virtual void visit_roots(const RootVisitor& visitor) = 0;
};

/// Registers a provider with a mutator for a scope. Scopes need not nest. O(number of providers).
class RootProviderScope {
 public:
  RootProviderScope(Mutator& mutator, RootProvider& provider);
  ~RootProviderScope();
  RootProviderScope(const RootProviderScope&) = delete;
  RootProviderScope& operator=(const RootProviderScope&) = delete;

 private:
  Mutator& mutator_;
  RootProvider& provider_;
};

/// A run of slots on the mutator's slot stack, for generated code that addresses its roots by
/// index: acquires `count` slots set to null, gives them back at the end of the scope. Frames and
/// Locals nest. Throws SlotStackOverflow.
class Frame {
 public:
  Frame(Mutator& mutator, std::size_t count);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] Object*& operator[](std::size_t index) noexcept { return slots_[index]; }
  [[nodiscard]] Object** slots() noexcept { return slots_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  Mutator& mutator_;
  Object** slots_;
  std::size_t count_;
};

}  // namespace fallow
