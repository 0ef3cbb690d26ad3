#include "device/fit_algorithm.h"

#include "device/first_fit.h"
#include "device/segregated_fit.h"

namespace fallow::device::detail {

std::unique_ptr<FitAlgorithm> make_fit(FitStrategy strategy, unsigned granule_shift) {
  if (strategy == FitStrategy::kFirst) return std::make_unique<FirstFit>();
  return std::make_unique<SegregatedFit>(granule_shift, strategy == FitStrategy::kBest);
}

}  // namespace fallow::device::detail
