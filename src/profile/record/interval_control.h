#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::profile {

/// Chooses the sampling interval from what sampling has cost so far and how large the file has
/// become: never from the samples themselves, so that each sample's weight stays right.
///
/// Not thread-safe.
class IntervalControl {
 public:
  static constexpr std::size_t kFirst = std::size_t{512} << 10;
  static constexpr std::size_t kSmallest = std::size_t{4} << 10;
  static constexpr std::size_t kLargest = std::size_t{1} << 40;

  struct Account {
    std::uint64_t own_cpu_ns;      ///< of sampling and writing, since the start
    std::uint64_t process_cpu_ns;  ///< of everything, since the start
    std::uint64_t file_bytes;
  };

  /// An interval of 0 lets the budget choose; a limit of 0 is none.
  void start(std::size_t interval_bytes, double budget, std::uint64_t max_file_bytes) noexcept;
  [[nodiscard]] std::size_t interval_bytes() const noexcept { return interval_; }
  /// Once a second.
  void update(const Account& account) noexcept;

 private:
  void heed_budget(const Account& account) noexcept;
  void heed_size(std::uint64_t file_bytes) noexcept;

  std::size_t interval_ = kFirst;
  std::size_t least_ = kSmallest;
  double budget_ = 0;  // 0: the interval is given
  std::uint64_t max_file_bytes_ = 0;
  std::uint64_t next_step_bytes_ = 0;
  Account last_{};
};

}  // namespace fallow::profile
