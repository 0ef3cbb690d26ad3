#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::detail {

/// Decides how much CPU time a full collection gets after each minor collection, so that it ends
/// before the heap has grown past its goal.
///
/// The rest of the work is spread over the rest of the growth up to two thirds of the way to the
/// goal: a step gets the part of the remaining work that corresponds to the part of the remaining
/// room which has been used up since the step before; once the goal is passed, all of it. It never
/// gets more than the budget of a pause: the rest is owed, and paid in further pauses while the
/// next nursery is filled. What another thread does meanwhile counts as done. The cost of marking a
/// byte is learnt from the steps themselves. Pure arithmetic, so that tests can play a program's
/// growth through it.
class Pacer {
 public:
  /// `budget_ns`: CPU time of one step at most.
  explicit Pacer(std::uint64_t budget_ns) noexcept : budget_ns_(budget_ns) {}

  /// A phase begins: `work` units are expected, and should be done when the heap, which uses `used`
  /// bytes now, has grown to `goal`.
  void begin(std::size_t used, std::size_t goal, std::size_t work) noexcept;
  /// CPU time for a step now that the heap uses `used` bytes and `done` units of the phase are
  /// done.
  [[nodiscard]] std::uint64_t allowance(std::size_t used, std::size_t done) noexcept;
  /// What the last allowance() left out for the sake of the budget, in nanoseconds.
  [[nodiscard]] std::uint64_t owed() const noexcept { return owed_ns_; }
  /// A step did `units` of the phase's work in `cpu_ns`.
  void learn(std::size_t units, std::uint64_t cpu_ns) noexcept;

  [[nodiscard]] double ns_per_unit() const noexcept { return ns_per_unit_; }
  [[nodiscard]] std::size_t remaining(std::size_t done) const noexcept {
    return done < work_ ? work_ - done : 0;
  }

 private:
  /// A cycle that is ahead of its schedule, or beside a heap that does not grow, still ends soon:
  /// stores are slower while it marks.
  static constexpr std::uint64_t kLeastPart = 10;

  const std::uint64_t budget_ns_;
  std::size_t aim_ = 0;  ///< before the goal, since estimates of work and speed are rough
  std::size_t goal_ = 0;
  std::size_t work_ = 0;
  std::size_t used_before_ = 0;
  std::size_t done_before_ = 0;  ///< at the end of the last step
  double ns_per_unit_ = 1.0;
  std::uint64_t owed_ns_ = 0;
};

}  // namespace fallow::detail
