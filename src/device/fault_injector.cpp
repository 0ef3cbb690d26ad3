#include "fallow/fault_injector.h"

#include "platform/split_mix.h"
#include "platform/thread_id.h"

namespace fallow::device {

namespace {

/// The n-th number of a generator: the decision about an operation depends on its number alone.
double uniform(std::uint64_t seed, std::uint64_t n) noexcept {
  return platform::unit_interval(platform::mix_bits(seed + n * platform::kSplitMixStep));
}

}  // namespace

void FaultInjector::set(const FaultPlan& plan) noexcept {
  plan_ = plan;
  allocations_.store(0, std::memory_order_relaxed);
  bytes_.store(0, std::memory_order_relaxed);
  reserves_.store(0, std::memory_order_relaxed);
  injected_.store(0, std::memory_order_relaxed);
  armed_.store(plan.nth_allocation != 0 || plan.every_allocation != 0 || plan.nth_byte != 0 ||
                   plan.nth_reserve != 0 || plan.probability > 0,
               std::memory_order_release);
}

bool FaultInjector::decide_allocation(std::uint64_t bytes) noexcept {
  if (plan_.thread != 0 && plan_.thread != platform::current_thread_id()) return false;
  const std::uint64_t number = allocations_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t sum = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const bool fails =
      number == plan_.nth_allocation ||
      (plan_.every_allocation != 0 && number % plan_.every_allocation == 0) ||
      (plan_.nth_byte != 0 && sum >= plan_.nth_byte && sum - bytes < plan_.nth_byte) ||
      (plan_.probability > 0 && uniform(plan_.seed, number) < plan_.probability);
  if (fails) injected_.fetch_add(1, std::memory_order_relaxed);
  return fails;
}

bool FaultInjector::fails_reserve() noexcept {
  if (!armed_.load(std::memory_order_relaxed)) return false;
  const bool fails = reserves_.fetch_add(1, std::memory_order_relaxed) + 1 == plan_.nth_reserve;
  if (fails) injected_.fetch_add(1, std::memory_order_relaxed);
  return fails;
}

}  // namespace fallow::device
