#pragma once

#include <cstddef>

#include "fallow/error.h"

namespace fallow {

/// The heap cannot satisfy an allocation, even after a full collection. The heap stays usable and
/// verifiable: nothing was allocated. Carries its text in itself, since there may be no memory for
/// one elsewhere.
class OutOfMemory : public Error {
 public:
  struct Facts {
    std::size_t requested_bytes = 0;        ///< size of the object that did not fit
    std::size_t used_bytes = 0;             ///< bytes in the old space and large objects
    std::size_t committed_bytes = 0;        ///< bytes obtained from the operating system
    std::size_t hard_limit_bytes = 0;       ///< HeapOptions::hard_limit_bytes; 0 = none
    std::size_t full_collections = 0;       ///< full collections run for this request
    bool operating_system_refused = false;  ///< true: the system had no memory; false: the limit
    /// Collections for failing allocations had taken more than HeapOptions::limit_cpu_share of the
    /// time, so this one did without.
    bool share_exceeded = false;
  };
  explicit OutOfMemory(const Facts& facts);
  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  [[nodiscard]] const char* what() const noexcept override { return text_; }

 private:
  Facts facts_;
  char text_[256];
};

/// An array length or object size that no heap could hold (overflow, near SIZE_MAX, negative cast
/// to unsigned). Nothing was allocated and no collection was run.
class SizeError : public Error {
 public:
  SizeError(std::size_t length, std::size_t item_bytes);
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t item_bytes() const noexcept { return item_bytes_; }

 private:
  std::size_t length_;
  std::size_t item_bytes_;
};

/// An array index or range outside the array.
class RangeError : public Error {
 public:
  RangeError(std::size_t index, std::size_t count, std::size_t length);
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

 private:
  std::size_t index_;
  std::size_t count_;
  std::size_t length_;
};

/// More live Local slots than HeapOptions::slot_stack_bytes can hold.
class SlotStackOverflow : public Error {
 public:
  explicit SlotStackOverflow(std::size_t capacity);
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::size_t capacity_;
};

}  // namespace fallow
