// Memory pressure: who gives memory back when a device runs short of it.
//
// When no region can serve an allocation and none can be added, the device climbs a ladder: frees
// whose work is done, empty regions, work in flight, then the registered responders by cost and
// priority. After every rung the whole pool is searched again. docs/pressure.md has the contract.
//
// Only interfaces: what owns memory implements PressureResponder without knowing the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "fallow/device_types.h"

namespace fallow {

/// How serious it is.
enum class PressureLevel : std::uint8_t {
  kSoft,  ///< a watermark has been crossed; nothing has failed yet
  kHard,  ///< an allocation waits for this memory, or the upper watermark has been crossed
  kLast,  ///< it fails otherwise; only for those that have asked for it
};

/// What a responder costs. The cheaper class is called first.
enum class CostClass : std::uint8_t {
  kCache,   ///< gives up what it holds for speed
  kNative,  ///< collects a native heap
  kScript,  ///< collects the heap of a script language
  kSpill,   ///< moves live data away
};

struct PressureInfo {
  std::size_t bytes_wanted = 0;  ///< in this domain; of a watermark: the bytes above it
  std::size_t alignment = 0;
  device::DomainId domain = 0;
  device::MemoryType type = device::MemoryType::kTensor;
  PressureLevel level = PressureLevel::kHard;
  /// 0, 1, … within one pass: called again while bytes are freed and the request does not fit.
  unsigned attempt = 0;
  unsigned round = 0;                    ///< passes over all responders before this one
  std::size_t largest_free = 0;          ///< largest free block of the domain and type
  std::size_t free_bytes = 0;            ///< free bytes of the domain and type
  device::Clock::time_point deadline{};  ///< the responder should be back by then
  unsigned depth = 0;                    ///< pressure windows that the calling thread is in already
};

/// Why a responder did nothing.
enum class SkipReason : std::uint8_t {
  kNone,
  kDisabled,
  kBusy,
  kReentrant,
  kFinalizing,
  kForked,
  kOutOfTime,
  kDamped,
};
inline constexpr std::size_t kSkipReasons = 8;

/// "disabled", "busy", …
const char* name_of(SkipReason reason) noexcept;

/// The answer of a responder. How many bytes came back is measured by the device.
struct PressureOutcome {
  bool retry_is_useless = false;  ///< do not call again in this pass
  bool more_at_last = false;      ///< could do more at PressureLevel::kLast
  bool more_now = false;          ///< could do more at once, even if nothing came back so far
  SkipReason skipped = SkipReason::kNone;
  /// With kBusy: what PressureResponder::wait_while_busy is to wait for.
  std::uint64_t busy_epoch = 0;
  /// Objects that the responder may not look at, for the error's text.
  std::size_t frozen_objects = 0;

  static PressureOutcome done() { return {}; }
  static PressureOutcome useless() { return {.retry_is_useless = true}; }
  static PressureOutcome skip(SkipReason reason) {
    return {.retry_is_useless = true, .skipped = reason};
  }
  static PressureOutcome busy(std::uint64_t epoch) {
    return {.skipped = SkipReason::kBusy, .busy_epoch = epoch};
  }
};

/// Something that can give device memory back.
///
/// Called by the thread that needs the memory, detached (fallow/thread_hooks.h), and by one thread
/// at a time for each domain. No lock of the device is held: a responder may allocate, free,
/// register, unregister itself, block, and take any lock. An allocation inside runs no responder
/// and waits for nobody. What it throws is caught and counted; the next responder is called.
class PressureResponder {
 public:
  virtual ~PressureResponder() = default;
  virtual PressureOutcome respond(const PressureInfo& info) = 0;
  /// After PressureOutcome::busy(epoch): waits until that work has ended, and returns whether it
  /// has; then respond() is called again, until the deadline if it is busy each time.
  virtual bool wait_while_busy(std::uint64_t epoch, device::Clock::time_point deadline) {
    static_cast<void>(epoch);
    static_cast<void>(deadline);
    return false;
  }
};

struct ResponderOptions {
  std::string name = "responder";
  CostClass cost = CostClass::kNative;
  int priority = 0;  ///< within a cost class, lower is earlier; then by registration
};

/// What a responder has done so far.
struct ResponderStatistics {
  std::string name;
  CostClass cost = CostClass::kNative;
  int priority = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;     ///< freed in the domain while it ran, by any thread
  std::uint64_t ns = 0;        ///< wall time
  std::uint64_t failures = 0;  ///< exceptions, and broken contracts
  std::uint64_t skips[kSkipReasons] = {};
  std::string last_failure;
};

namespace device::detail {
class RegistrationTarget;
}  // namespace device::detail

/// A place in a list of a device. Destroying it ends the registration: it waits, detached, for
/// calls that are under way in other threads, and not for those that the calling thread is in
/// itself, so that it may end inside its own call. Two calls that end each other's registration
/// wait for each other. May outlive the device. Thread-safe but for the object itself.
class [[nodiscard]] Registration {
 public:
  Registration() noexcept = default;
  explicit Registration(std::shared_ptr<device::detail::RegistrationTarget> target) noexcept
      : target_(std::move(target)) {}
  Registration(Registration&&) noexcept = default;
  Registration& operator=(Registration&& other) noexcept;
  ~Registration() { reset(); }

  /// Ends the registration now.
  void reset() noexcept;
  explicit operator bool() const noexcept { return target_ != nullptr; }

 private:
  std::shared_ptr<device::detail::RegistrationTarget> target_;
};

}  // namespace fallow
