#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "fallow/pressure.h"

namespace fallow::python {

/// What the collection responder may do; may be changed at any time.
struct CollectionPolicy {
  std::atomic<bool> enabled{true};
  std::atomic<bool> when_disabled{true};  ///< collects although gc.disable() was called
  std::atomic<bool> in_nogc{true};        ///< collects although a fallow.gc.nogc() exists
  std::atomic<bool> young_first{true};    ///< not where a young collection costs as much as a full
  std::atomic<bool> wait{true};           ///< waits for a collection that is under way
  /// For one request no further full collection begins when those so far have taken so long; 0: no
  /// limit but the request's own budget.
  std::atomic<std::uint64_t> budget_ns{0};
};

struct CollectionCounts {
  std::atomic<std::uint64_t> young{0};
  std::atomic<std::uint64_t> full{0};
  std::atomic<std::uint64_t> waited{0};  ///< times that another collection was under way
  std::atomic<std::uint64_t> ns{0};
};

/// Gives device memory back by collecting the main interpreter's garbage: the young first, then
/// all, and all again while bytes come back, since finalizers drop further garbage. Collects
/// although collection is disabled, and leaves the flag as it is. One for all devices of the
/// process; never destroyed, because devices may outlive the interpreter.
class CollectionResponder final : public PressureResponder {
 public:
  static const std::shared_ptr<CollectionResponder>& instance();
  /// Remembers gc.collect and gc.get_freeze_count. Attached; false with an exception set.
  bool prepare();

  PressureOutcome respond(const PressureInfo& info) override;
  bool wait_while_busy(std::uint64_t epoch, device::Clock::time_point deadline) override;

  CollectionPolicy policy;
  CollectionCounts counts;
  /// fallow.gc.nogc() scopes that exist.
  std::atomic<int> nogc_scopes{0};

 private:
  [[nodiscard]] PressureOutcome busy();
  [[nodiscard]] bool refuses() const noexcept;
  /// Attached. False when CPython did not collect, since it is collecting already.
  bool collect(bool young, std::uint64_t& ns);
  [[nodiscard]] std::size_t frozen_objects() const;

  PyObject* collect_ = nullptr;
  PyObject* freeze_count_ = nullptr;
  bool young_costs_less_ = true;
  std::atomic<std::uint64_t> last_full_ns_{0};
};

}  // namespace fallow::python
