#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "fallow/error.h"
#include "fallow/pressure.h"

namespace fallow {

class Heap;
class Mutator;

namespace detail {
class HeapCore;
struct LedgerAccount;
}  // namespace detail

struct LedgerOptions {
  std::string name = "ledger";
  /// Charged bytes above which the heap collects early and responders are asked with
  /// PressureLevel::kSoft. 0: none.
  std::size_t soft_limit = 0;
  /// Charged bytes that are never exceeded: a charge that still does not fit after collections and
  /// responders fails. 0: none.
  std::size_t hard_limit = 0;
  /// The bytes count as memory of the heap: full collections are scheduled, and
  /// HeapOptions::soft_limit_bytes is watched, as if they were in it. For memory of the same
  /// machine, not for that of a device.
  bool counts_for_heap = true;
};

/// Exact at any moment at which no charge is under way. Bytes.
struct LedgerStatistics {
  std::size_t charged = 0;
  std::size_t peak = 0;  ///< of charged
  std::uint64_t charged_ever = 0;
  std::uint64_t minor_collections = 0;  ///< caused by this ledger
  std::uint64_t full_collections = 0;
  std::uint64_t pressure_calls = 0;  ///< of responders
  std::uint64_t failures = 0;
};

/// A charge did not fit below a ledger's hard limit, even after full collections and responders.
class LedgerFull : public Error {
 public:
  LedgerFull(const std::string& name, std::size_t requested, std::size_t charged,
             std::size_t hard_limit);
  [[nodiscard]] std::size_t requested() const noexcept { return requested_; }
  [[nodiscard]] std::size_t charged() const noexcept { return charged_; }
  [[nodiscard]] std::size_t hard_limit() const noexcept { return hard_limit_; }

 private:
  std::size_t requested_;
  std::size_t charged_;
  std::size_t hard_limit_;
};

/// Bytes outside of the heap that belong to somebody, usually to a managed object. Movable; moving
/// its bytes is enough, so it may be a member of a managed type with a destructor:
///
///     struct Tensor : fallow::Object {
///       static constexpr auto kDestruction = fallow::Destruction::kWhenDead;
///       explicit Tensor(fallow::Charge&& bytes) : charge(std::move(bytes)) {}
///       fallow::Charge charge;
///       using Fields = fallow::FieldList<>;
///     };
///     fallow::Charge charge = hbm.charge(mutator, 1 << 20);
///     auto tensor = fallow::make<Tensor>(mutator, std::move(charge));
///
/// Nothing here collects or throws. One thread at a time for each object.
class Charge {
 public:
  Charge() noexcept = default;
  Charge(Charge&& other) noexcept
      : account_(std::exchange(other.account_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept;
  ~Charge() { release(); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Takes the bytes of another charge of the same ledger (or of an empty one) over: to grow,
  /// charge the ledger for more first. Without effect between ledgers; returns whether it was done.
  bool absorb(Charge&& other) noexcept;
  /// Gives up to `bytes` back; returns how many.
  std::size_t shrink(std::size_t bytes) noexcept;
  /// Gives all back: before the owner dies, or when it does.
  void release() noexcept;

 private:
  friend class Ledger;
  Charge(detail::LedgerAccount* account, std::size_t bytes) noexcept
      : account_(account), bytes_(bytes) {}

  detail::LedgerAccount* account_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A named account of memory that managed objects own outside of the heap: of malloc, of files that
/// are mapped, of a device.
///
/// A small object can own much. The ledger makes the heap see that: bytes charged since the last
/// minor collection start one as young objects do, so that owners that die young take minor
/// collections alone; bytes that stay start full ones. At the limits the order is: minor
/// collection, full collection, the responders by cost and priority, another full collection,
/// LedgerFull. Totals are exact and never negative. Thread-safe. Charges may outlive the ledger and
/// the heap.
class Ledger {
 public:
  Ledger(Heap& heap, LedgerOptions options);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Counts `bytes` more. May collect: every Ref may be stale afterwards. Throws LedgerFull, after
  /// which nothing was charged. O(1) unless it collects.
  [[nodiscard]] Charge charge(Mutator& mutator, std::size_t bytes);

  /// Asked for memory at the limits, without any lock held, on the thread that charges and whose
  /// mutator is parked meanwhile. A watermark call has PressureLevel::kSoft. It stays until
  /// removed; after remove_responder() it is not called again.
  void add_responder(PressureResponder& responder, const ResponderOptions& options = {});
  void remove_responder(PressureResponder& responder);

  [[nodiscard]] std::size_t charged() const noexcept;
  [[nodiscard]] LedgerStatistics statistics() const noexcept;
  [[nodiscard]] const LedgerOptions& options() const noexcept;

 private:
  class Responders;

  void relieve_young(detail::HeapCore& core, std::size_t young);
  void collect_fully();
  void relieve_soft(Mutator& mutator, std::size_t bytes);
  bool relieve_hard(Mutator& mutator, std::size_t bytes);
  void ask(Mutator& mutator, std::size_t bytes, PressureLevel level);

  Heap& heap_;
  detail::LedgerAccount* account_;
  std::unique_ptr<Responders> responders_;
};

}  // namespace fallow
