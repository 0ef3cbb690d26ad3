#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device_core.h"

namespace fallow::device::detail {

/// What was tried for one request; becomes part of the error if nothing helps.
struct Ledger {
  std::vector<ResponderShare> responders;
  std::uint64_t reclaimed_bytes = 0;
  unsigned rounds = 0;
  GivenUp given_up = GivenUp::kNothingLeft;
  std::uint64_t rest_until_ns = 0;  ///< the damper wants no ladder before

  ResponderShare& share_of(const std::string& name);
};

/// One thread's way up the ladder in a domain: DESIGN's order of costs, and after every rung the
/// whole pool is searched again, for everybody who waits. Runs without the mutex, on a detached
/// thread that is the leader of the domain.
class Ladder {
 public:
  /// For a request that waits.
  Ladder(DeviceCore& core, Waiter& waiter, Clock::time_point deadline, Ledger& ledger);
  /// Because of a watermark: the responders alone.
  Ladder(DeviceCore& core, const PoolRequest& request, DomainId domain, Clock::time_point deadline,
         Ledger& ledger);

  /// Until the waiter is served, has moved to another domain, or nothing is left to do.
  void climb(std::uint64_t arrived_ns);
  /// Calls all responders once at this level. Returns what they freed.
  std::uint64_t pass(PressureLevel level, unsigned round);

 private:
  using Entry = Responders::Entry;

  /// Searches again; whether there is nothing more to do here.
  bool done();
  bool grow_until_done();
  bool wait_for_streams();
  /// Rungs with responders; false when they cannot help.
  bool ask_responders();
  [[nodiscard]] bool out_of_time() const noexcept { return Clock::now() >= deadline_; }

  /// All attempts of one responder in one pass.
  std::uint64_t ask(Entry& entry, PressureLevel level, unsigned round);
  std::uint64_t call(Entry& entry, const PressureInfo& info, PressureOutcome& outcome);
  [[nodiscard]] PressureInfo describe(PressureLevel level, unsigned attempt, unsigned round);
  void record(Entry& entry, const PressureInfo& info, const PressureOutcome& outcome,
              std::uint64_t freed, std::uint64_t ns, const std::optional<std::string>& failure);

  DeviceCore& core_;
  Waiter* const waiter_;
  const PoolRequest& request_;
  const DomainId domain_;
  const Clock::time_point deadline_;
  Ledger& ledger_;
  PressureLevel level_ = PressureLevel::kHard;
  bool more_at_last_ = false;
};

}  // namespace fallow::device::detail
