#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fallow/ledger.h"

namespace fallow::detail {

/// The bytes of all ledgers of a heap that count for it. Outlives the heap with its accounts.
struct LedgerTotal {
  std::atomic<std::size_t> counted{0};  ///< bytes that are paced like memory of the heap
};

/// The books of one ledger: shared by the ledger, its heap and every charge, freed by the last.
struct LedgerAccount {
  explicit LedgerAccount(LedgerOptions ledger_options) : options(std::move(ledger_options)) {}

  const LedgerOptions options;
  std::shared_ptr<LedgerTotal> total;
  std::atomic<std::size_t> owners{1};
  std::atomic<std::size_t> charged{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::uint64_t> charged_ever{0};
  /// Charged since the last minor collection, whose number is `young_since`; hints.
  std::atomic<std::size_t> young{0};
  std::atomic<std::uint64_t> young_since{0};
  std::atomic<std::size_t> after_full{0};  ///< charged when it had last caused a full collection
  std::atomic<std::uint64_t> minor_collections{0};
  std::atomic<std::uint64_t> full_collections{0};
  std::atomic<std::uint64_t> pressure_calls{0};
  std::atomic<std::uint64_t> failures{0};

  /// Charges unless that leads above the hard limit.
  [[nodiscard]] bool try_charge(std::size_t bytes) noexcept;
  void give_back(std::size_t bytes) noexcept;
  void drop() noexcept {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

}  // namespace fallow::detail
