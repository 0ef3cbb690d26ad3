// Memory that a test gives back when it is asked to.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "fallow/device.h"

namespace fallow::test {

/// Allocations that a test lets go when it is asked to.
class Hoard {
 public:
  explicit Hoard(device::Device& device) : device_(device) {}
  void fill(std::size_t bytes) {
    while (const auto block = device_.try_allocate({.bytes = bytes})) blocks_.push_back(*block);
  }
  std::size_t drop(std::size_t count) {
    std::size_t dropped = 0;
    for (; dropped < count && !blocks_.empty(); ++dropped) {
      device_.free(blocks_.back());
      blocks_.pop_back();
    }
    return dropped;
  }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

 private:
  device::Device& device_;
  std::vector<device::Allocation> blocks_;
};

/// The facts of a request that must fail.
inline device::OutOfMemoryReport report_of(device::Device& device,
                                           const device::AllocationRequest& request) {
  try {
    device.allocate(request);
  } catch (const device::OutOfDeviceMemory& error) {
    return error.report();
  }
  ADD_FAILURE() << "did not fail";
  return {};
}

}  // namespace fallow::test
