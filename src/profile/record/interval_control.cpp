#include "profile/record/interval_control.h"

#include <algorithm>

namespace fallow::profile {

namespace {
/// Less than this in a second is not worth an answer: it would be the writer's fixed cost.
constexpr std::uint64_t kNoticeableNs = 2'000'000;
constexpr std::uint64_t kBusyNs = 10'000'000;
/// Going down costs more than it saves unless there is room for two steps.
constexpr double kRoom = 0.25;
}  // namespace

void IntervalControl::start(std::size_t interval_bytes, double budget,
                            std::uint64_t max_file_bytes) noexcept {
  budget_ = interval_bytes == 0 ? budget : 0;
  interval_ = interval_bytes == 0 ? kFirst : interval_bytes;
  least_ = std::min(kSmallest, interval_);
  max_file_bytes_ = max_file_bytes;
  next_step_bytes_ = max_file_bytes / 2;
  last_ = {};
}

void IntervalControl::update(const Account& account) noexcept {
  if (budget_ > 0) heed_budget(account);
  if (max_file_bytes_ != 0) heed_size(account.file_bytes);
  interval_ = std::clamp(interval_, std::min(least_, kLargest), kLargest);
  last_ = account;
}

void IntervalControl::heed_budget(const Account& account) noexcept {
  const std::uint64_t own = account.own_cpu_ns - std::min(account.own_cpu_ns, last_.own_cpu_ns);
  const std::uint64_t all =
      account.process_cpu_ns - std::min(account.process_cpu_ns, last_.process_cpu_ns);
  if (all < kBusyNs) return;
  const double paid = static_cast<double>(own) / static_cast<double>(all);
  if (paid > budget_ && own > kNoticeableNs) {
    interval_ *= 2;
  } else if (paid < budget_ * kRoom) {
    interval_ /= 2;
  }
}

/// Each half of what is left takes as long as the one before, at half of the rate.
void IntervalControl::heed_size(std::uint64_t file_bytes) noexcept {
  while (file_bytes >= next_step_bytes_ && next_step_bytes_ < max_file_bytes_) {
    least_ = std::min(std::max(least_, interval_ * 2), kLargest);
    const std::uint64_t left = max_file_bytes_ - next_step_bytes_;
    next_step_bytes_ = left < 2 ? max_file_bytes_ : next_step_bytes_ + left / 2;
  }
}

}  // namespace fallow::profile
