// Random operations against a simple model: which bytes are taken. Responders drop, allocate,
// throw, end their own registration and block. The seed of a failure is in the output.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using test::kKiB;
using test::Random;
using test::TestDevice;

constexpr DomainId kDomains = 2;
constexpr std::size_t kDomainBytes = 256 * kKiB;

DeviceOptions model_options(Random& random) {
  DeviceOptions options;
  options.fit = static_cast<FitStrategy>(random.below(3));
  options.regions = static_cast<RegionStrategy>(random.below(2));
  if (random.below(2) == 0) options.region_bytes = {128 * kKiB, 64 * kKiB, 32 * kKiB};
  if (random.below(3) == 0) options.limit_bytes = kDomainBytes / 2;
  if (random.below(2) == 0) options.soft_watermark = 0.7;
  options.damper_interval = std::chrono::microseconds(random.below(2) * 50);
  options.pressure_budget = std::chrono::seconds(60);
  return options;
}

class Model {
 public:
  explicit Model(std::uint64_t seed)
      : random_(seed), test_(TestDevice::of_size(kDomainBytes, kDomains), model_options(random_)) {
    add_responders();
  }

  void run(std::size_t operations) {
    for (std::size_t i = 0; i < operations; ++i) {
      step();
      if (i % 256 == 0) check();
      if (testing::Test::HasFatalFailure()) return;
    }
    check();
    end();
  }

 private:
  struct Live {
    Allocation allocation;
    AllocationInfo info;
  };
  struct Waiting {
    Live live;
    StreamId stream;
    std::uint64_t number;
  };
  using Interval = std::pair<std::uint32_t, std::uint64_t>;  // region, offset

  void step() {
    const std::size_t kind = random_.below(100);
    if (kind < 45) {
      allocate();
    } else if (kind < 75) {
      free_one(false);
    } else if (kind < 88) {
      free_one(true);
    } else if (kind < 94) {
      test_.backend->submit(stream(), std::chrono::microseconds(random_.below(30)));
    } else if (kind < 97) {
      test_.device.poll();
    } else if (kind < 98) {
      test_.device.trim();
    } else if (kind < 99) {
      free_twice();
    } else if (!own_) {
      add_self_ending();
    }
  }

  StreamId stream() { return static_cast<StreamId>(random_.below(3)); }

  AllocationRequest request() {
    AllocationRequest request;
    request.bytes = 1 + random_.below(std::size_t{1} << (7 + random_.below(9)));
    if (random_.below(8) == 0) request.alignment = std::size_t{128} << random_.below(5);
    if (random_.below(8) == 0) request.type = MemoryType::kProgram;
    request.placement = random_.below(5) == 0
                            ? Placement::interleave(0b11)
                            : Placement::bind(static_cast<DomainId>(random_.below(kDomains)));
    return request;
  }

  void allocate() {
    const AllocationRequest asked = request();
    if (random_.below(4) == 0) {
      if (const auto block = test_.device.try_allocate(asked)) take(*block, asked);
      return;
    }
    try {
      take(test_.device.allocate(asked), asked);
    } catch (const OutOfDeviceMemory& error) {
      const OutOfMemoryReport& report = error.report();
      EXPECT_LT(report.largest_free, report.wanted_bytes + asked.alignment) << error.what();
    } catch (const RequestTooLarge& error) {
      EXPECT_GT(asked.bytes, 16 * kKiB) << error.what();
    }
  }

  void take(Allocation allocation, const AllocationRequest& asked) {
    forget_done();
    Live live{allocation, test_.device.describe(allocation)};
    ASSERT_GE(live.info.bytes, asked.bytes);
    ASSERT_EQ(live.info.type, asked.type);
    for (const Chunk& chunk : live.info.chunks) {
      ASSERT_EQ(chunk.offset % std::max<std::size_t>(asked.alignment, 128), 0U);
      ASSERT_NE(asked.placement.domain_set() >> chunk.domain & 1, 0U);
      const auto after = taken_.lower_bound({chunk.region, chunk.offset});
      if (after != taken_.end() && after->first.first == chunk.region) {
        ASSERT_LE(chunk.offset + chunk.bytes, after->first.second) << "overlaps the next";
      }
      if (after != taken_.begin()) {
        const auto before = std::prev(after);
        if (before->first.first == chunk.region) {
          ASSERT_LE(before->second, chunk.offset) << "overlaps the one before";
        }
      }
      taken_[{chunk.region, chunk.offset}] = chunk.offset + chunk.bytes;
    }
    live_.push_back(std::move(live));
  }

  Live pick() {
    std::swap(live_[random_.below(live_.size())], live_.back());
    Live live = std::move(live_.back());
    live_.pop_back();
    return live;
  }

  void release(const Live& live) {
    for (const Chunk& chunk : live.info.chunks) taken_.erase({chunk.region, chunk.offset});
  }

  void free_one(bool after_stream) {
    if (live_.empty()) return;
    const Live live = pick();
    if (!after_stream) {
      // First out of the model: the free itself may serve somebody.
      release(live);
      test_.device.free(live.allocation);
      return;
    }
    const StreamId on = stream();
    waiting_.push_back({live, on, test_.backend->record(on)});
    test_.device.free_after(live.allocation, std::vector<StreamId>{on});
  }

  void free_twice() {
    if (live_.empty()) return;
    const Live live = pick();
    release(live);
    test_.device.free(live.allocation);
    EXPECT_THROW(test_.device.free(live.allocation), StaleAllocation);
  }

  /// What streams have done is free for the model as soon as it can be for the device.
  void forget_done() {
    std::erase_if(waiting_, [this](const Waiting& each) {
      if (test_.backend->completed(each.stream) < each.number) return false;
      release(each.live);
      return true;
    });
  }

  void add_responders() {
    tokens_.push_back(test_.device.add_responder(
        [this](const PressureInfo&) {
          // The garbage of this model is what it can spare.
          for (std::size_t i = random_.below(8); i > 0; --i) free_one(random_.below(4) == 0);
          return PressureOutcome::done();
        },
        {.name = "drops", .priority = 2}));
    tokens_.push_back(test_.device.add_responder(
        [this](const PressureInfo& info) {
          allocate();
          if (random_.below(2) == 0) free_one(false);
          EXPECT_EQ(info.depth, 0U);
          return PressureOutcome::useless();
        },
        {.name = "allocates", .priority = 1}));
    tokens_.push_back(test_.device.add_responder(
        [this](const PressureInfo&) -> PressureOutcome {
          if (random_.below(2) == 0) throw std::runtime_error("as it likes");
          return PressureOutcome::skip(SkipReason::kDisabled);
        },
        {.name = "throws", .priority = 0}));
    tokens_.push_back(test_.device.add_responder(
        [this](const PressureInfo&) {
          const StreamId on = stream();
          const std::uint64_t number =
              test_.backend->submit(on, std::chrono::microseconds(random_.below(20)));
          test_.backend->wait(on, number, Clock::now() + std::chrono::seconds(10));
          return PressureOutcome::useless();
        },
        {.name = "blocks", .cost = CostClass::kSpill}));
  }

  void add_self_ending() {
    own_ = test_.device.add_responder(
        [this](const PressureInfo&) {
          own_.reset();
          return PressureOutcome::done();
        },
        {.name = "ends itself", .cost = CostClass::kCache});
  }

  void check() {
    ASSERT_TRUE(test_.consistent());
    std::uint64_t live_bytes = 0;
    for (const Live& each : live_) live_bytes += each.info.bytes;
    std::uint64_t used = 0;
    std::uint64_t in_flight = 0;
    for (const DomainStatistics& domain : test_.device.statistics().domains) {
      for (const UsageStatistics& usage : domain.usage) {
        used += usage.current_bytes;
        in_flight += usage.in_flight_bytes;
        ASSERT_EQ(usage.reserved_bytes, usage.current_bytes + usage.free_bytes);
        ASSERT_LE(usage.largest_free, usage.free_bytes);
      }
    }
    ASSERT_EQ(used - in_flight, live_bytes);
  }

  void end() {
    while (!live_.empty()) free_one(false);
    for (StreamId on = 0; on < 3; ++on) {
      test_.backend->wait(on, test_.backend->record(on), Clock::time_point::max());
    }
    test_.device.trim();
    for (DomainId domain = 0; domain < kDomains; ++domain) {
      EXPECT_EQ(test_.backend->free_bytes(domain), kDomainBytes);
    }
  }

  Random random_;
  TestDevice test_;
  std::vector<Live> live_;
  std::vector<Waiting> waiting_;
  std::map<Interval, std::uint64_t> taken_;  ///< ends
  std::vector<Registration> tokens_;
  Registration own_;
};

TEST(DeviceModel, AgreesWithASimpleOne) {
  const test::Watchdog watchdog(280);
  constexpr std::size_t kSeeds = 50;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model(seed).run(test::scaled(1'000'000 / kSeeds));
    if (HasFailure()) return;
  }
}

/// A thread's allocations, each marked with its number at both ends.
class Marked {
 public:
  Marked(Device& device, std::uint64_t seed) : device_(device), random_(seed) {}

  void add(Allocation block) {
    const auto bytes = device_.host_view(block);
    const std::uint64_t mark = block.number();
    std::memcpy(bytes.data(), &mark, sizeof mark);
    std::memcpy(bytes.data() + bytes.size() - sizeof mark, &mark, sizeof mark);
    blocks_.push_back(block);
  }
  Allocation take_checked() {
    std::swap(blocks_[random_.below(blocks_.size())], blocks_.back());
    const Allocation block = blocks_.back();
    blocks_.pop_back();
    const auto bytes = device_.host_view(block);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::memcpy(&first, bytes.data(), sizeof first);
    std::memcpy(&last, bytes.data() + bytes.size() - sizeof last, sizeof last);
    EXPECT_EQ(first, block.number());
    EXPECT_EQ(last, block.number());
    return block;
  }
  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  Random& random() { return random_; }

 private:
  Device& device_;
  Random random_;
  std::vector<Allocation> blocks_;
};

// Threads allocate, free, free after streams and drop garbage that only a responder can free.
TEST(DeviceModelThreads, NobodyWritesIntoAnothersMemory) {
  const test::Watchdog watchdog(280);
  constexpr std::uint64_t kSeed = 20261201;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  DeviceOptions options;
  options.soft_watermark = 0.9;
  TestDevice test(512 * kKiB, options);
  std::mutex mutex;
  std::vector<Allocation> garbage;
  const auto token = test.device.add_responder([&](const PressureInfo&) {
    std::vector<Allocation> dropped;
    {
      const std::scoped_lock lock(mutex);
      dropped.swap(garbage);
    }
    for (const Allocation block : dropped) test.device.free(block);
    return PressureOutcome::done();
  });
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Marked marked(test.device, kSeed + i);
      Random& random = marked.random();
      std::size_t live = 0;
      for (std::size_t k = 0; k < test::scaled(100'000); ++k) {
        // A thread keeps so little that all of them together never fill the device.
        if (live < 8 && (live == 0 || random.below(2) == 0)) {
          marked.add(test.device.allocate(16 + random.below(8 * kKiB)));
          ++live;
          continue;
        }
        const Allocation block = marked.take_checked();
        --live;
        const std::size_t kind = random.below(3);
        if (kind == 0) {
          test.device.free(block);
        } else if (kind == 1) {
          const auto stream = static_cast<StreamId>(i);
          test.backend->submit(stream, std::chrono::microseconds(random.below(5)));
          test.device.free_after(block, std::vector<StreamId>{stream});
        } else {
          const std::scoped_lock lock(mutex);
          garbage.push_back(block);
        }
      }
      while (!marked.empty()) test.device.free(marked.take_checked());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(test.pressure().failed, 0U) << "no false out of memory";
  EXPECT_TRUE(test.consistent());
}

}  // namespace
}  // namespace fallow::device
