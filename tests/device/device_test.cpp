#include "fallow/device.h"

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/device/test_support.h"

namespace fallow::device {
namespace {

using test::kKiB;
using test::kMiB;
using test::TestDevice;

TEST(Device, RoundsUpAndCounts) {
  TestDevice test(kMiB);
  const Allocation one = test.device.allocate(1);
  const Allocation two = test.device.allocate(129);
  EXPECT_NE(one, two);
  EXPECT_EQ(test.device.describe(one).bytes, 128U);
  EXPECT_EQ(test.device.describe(two).bytes, 256U);
  EXPECT_EQ(test.usage().current_bytes, 384U);
  EXPECT_EQ(test.usage().current_blocks, 2U);
  test.device.free(one);
  test.device.free(two);
  EXPECT_EQ(test.usage().current_bytes, 0U);
  EXPECT_EQ(test.usage().peak_bytes, 384U);
  EXPECT_EQ(test.usage().total_bytes, 384U);
  EXPECT_EQ(test.usage().largest_free, kMiB);
  EXPECT_EQ(test.device.statistics().frees, 2U);
  test.device.reset_peaks();
  EXPECT_EQ(test.usage().peak_bytes, 0U);
}

TEST(Device, ZeroBytesAreTheEmptyAllocation) {
  TestDevice test(kMiB);
  const Allocation nothing = test.device.allocate(0);
  EXPECT_FALSE(nothing);
  test.device.free(nothing);
  test.device.free(Allocation());
  EXPECT_EQ(test.device.statistics().allocations, 0U);
}

TEST(Device, RefusesStaleHandles) {
  TestDevice test(kMiB);
  TestDevice other(kMiB);
  const Allocation block = test.device.allocate(100);
  EXPECT_THROW(other.device.free(block), StaleAllocation);
  test.device.free(block);
  EXPECT_THROW(test.device.free(block), StaleAllocation);
  EXPECT_THROW(static_cast<void>(test.device.describe(block)), StaleAllocation);
  // The same place again, under another number.
  const Allocation again = test.device.allocate(100);
  EXPECT_THROW(test.device.free(block), StaleAllocation);
  EXPECT_THROW(test.device.write(block, 0, "x", 1), StaleAllocation);
  test.device.free(again);
  try {
    test.device.free(again);
    FAIL();
  } catch (const StaleAllocation& error) {
    EXPECT_EQ(error.number(), again.number());
  }
}

// Checklist 27: near SIZE_MAX, or larger than any region: no responder is called.
TEST(Device, RefusesImpossibleSizesAtOnce) {
  TestDevice test(kMiB);
  int calls = 0;
  const auto token = test.device.add_responder([&calls](const PressureInfo&) {
    ++calls;
    return PressureOutcome::done();
  });
  for (const std::size_t bytes :
       {SIZE_MAX, SIZE_MAX - 127, SIZE_MAX - 128, SIZE_MAX / 2, kMiB + 1}) {
    EXPECT_THROW(test.device.allocate(bytes), RequestTooLarge) << bytes;
  }
  EXPECT_THROW(test.device.allocate({.bytes = 1, .alignment = std::size_t{1} << 63}),
               RequestTooLarge);
  try {
    test.device.allocate(2 * kMiB);
    FAIL();
  } catch (const RequestTooLarge& error) {
    EXPECT_EQ(error.bytes(), 2 * kMiB);
    EXPECT_EQ(error.largest_possible(), kMiB);
  }
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(test.usage().reserved_bytes, 0U);
}

TEST(Device, RefusesWrongUsage) {
  TestDevice test(TestDevice::of_size(kMiB, 2));
  EXPECT_THROW(test.device.allocate({.bytes = 1, .alignment = 96}), UsageError);
  EXPECT_THROW(test.device.allocate({.bytes = 1, .placement = Placement::bind(2)}), UsageError);
  EXPECT_THROW(test.device.allocate({.bytes = 1, .placement = Placement::bind(64)}), UsageError);
  EXPECT_THROW(test.device.allocate({.bytes = 1, .placement = Placement::interleave(0)}),
               UsageError);
}

TEST(Device, RefusesWrongOptions) {
  const auto complaint = [](auto&& change) -> std::string {
    DeviceOptions options;
    change(options);
    try {
      const TestDevice test(kMiB, options);
    } catch (const OptionError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(complaint([](DeviceOptions&) {}), "");
  EXPECT_NE(complaint([](DeviceOptions& options) { options.alignment = 100; }), "");
  EXPECT_NE(complaint([](DeviceOptions& options) { options.max_regions = 0; }), "");
  EXPECT_NE(complaint([](DeviceOptions& options) { options.max_rounds = 0; }), "");
  EXPECT_NE(complaint([](DeviceOptions& options) { options.soft_watermark = 1.5; }), "");
  EXPECT_NE(complaint([](DeviceOptions& options) {
              options.soft_watermark = 0.9;
              options.hard_watermark = 0.5;
            }),
            "");
  EXPECT_NE(complaint([](DeviceOptions& options) { options.region_bytes = {2 * kMiB}; }), "");
  EXPECT_NE(complaint([](DeviceOptions& options) { options.limit_bytes = 100; }), "");
  EXPECT_THROW(Device(nullptr), OptionError);
}

TEST(Device, AlignsOffsets) {
  TestDevice test(kMiB);
  test.device.allocate(128);
  const Allocation aligned = test.device.allocate({.bytes = 100, .alignment = 4096});
  EXPECT_EQ(test.device.describe(aligned).chunks[0].offset % 4096, 0U);
  EXPECT_TRUE(test.consistent());
  // All of an empty region, at an alignment as large as it is.
  TestDevice whole(kMiB);
  EXPECT_TRUE(whole.device.allocate({.bytes = kMiB, .alignment = kMiB}));
}

TEST(Device, AcquiresRegionsInFallbackSizes) {
  DeviceOptions options;
  options.region_bytes = {64 * kKiB, 32 * kKiB, 16 * kKiB};
  TestDevice test(100 * kKiB, options);
  std::vector<Allocation> blocks;
  while (const auto block = test.device.try_allocate({.bytes = 16 * kKiB})) {
    blocks.push_back(*block);
  }
  EXPECT_EQ(blocks.size(), 6U) << "64 and 32 KiB; the rest is smaller than any region";
  EXPECT_EQ(test.usage().regions, 2U);
  EXPECT_EQ(test.usage().reserved_bytes, 96 * kKiB);
  EXPECT_EQ(test.pressure().windows, 0U);
  for (const Allocation block : blocks) test.device.free(block);
  EXPECT_EQ(test.device.trim(), 96 * kKiB);
  EXPECT_EQ(test.usage().regions, 0U);
  EXPECT_EQ(test.backend->free_bytes(0), 100 * kKiB);
  EXPECT_TRUE(test.device.allocate(1));
}

TEST(Device, ObservesLimits) {
  DeviceOptions options;
  options.region_bytes = {16 * kKiB};
  options.max_regions = 2;
  TestDevice by_count(kMiB, options);
  EXPECT_TRUE(by_count.device.try_allocate({.bytes = 16 * kKiB}));
  EXPECT_TRUE(by_count.device.try_allocate({.bytes = 16 * kKiB}));
  EXPECT_FALSE(by_count.device.try_allocate({.bytes = 16 * kKiB}));
  options.max_regions = 64;
  options.limit_bytes = 48 * kKiB;
  TestDevice by_bytes(kMiB, options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(by_bytes.device.try_allocate({.bytes = 16 * kKiB}));
  EXPECT_FALSE(by_bytes.device.try_allocate({.bytes = 16 * kKiB}));
  HostBackendOptions host = TestDevice::of_size(kMiB);
  host.max_regions = 1;
  options.limit_bytes = 0;
  TestDevice by_handles(host, options);
  EXPECT_TRUE(by_handles.device.try_allocate({.bytes = 16 * kKiB}));
  EXPECT_FALSE(by_handles.device.try_allocate({.bytes = 16 * kKiB}));
}

TEST(Device, KeepsTypesApart) {
  DeviceOptions options;
  options.region_bytes = {32 * kKiB};
  options.program_region_bytes = {8 * kKiB};
  TestDevice test(40 * kKiB, options);
  const Allocation program = test.device.allocate({.bytes = 1, .type = MemoryType::kProgram});
  const Allocation tensor = test.device.allocate(1);
  EXPECT_EQ(test.usage(0, MemoryType::kProgram).reserved_bytes, 8 * kKiB);
  EXPECT_EQ(test.usage(0, MemoryType::kTensor).reserved_bytes, 32 * kKiB);
  EXPECT_NE(test.device.describe(program).chunks[0].region,
            test.device.describe(tensor).chunks[0].region);
  EXPECT_THROW(test.device.allocate({.bytes = 9 * kKiB, .type = MemoryType::kProgram}),
               RequestTooLarge);
}

TEST(Device, FillsOneRegionOrBalances) {
  for (const RegionStrategy strategy : {RegionStrategy::kFillFirst, RegionStrategy::kBalanced}) {
    DeviceOptions options;
    options.region_bytes = {16 * kKiB};
    options.regions = strategy;
    TestDevice test(32 * kKiB, options);
    const Allocation first = test.device.allocate(16 * kKiB);
    const Allocation second = test.device.allocate(16 * kKiB);
    test.device.free(first);
    test.device.free(second);
    std::set<std::uint32_t> regions;
    for (int i = 0; i < 4; ++i) {
      regions.insert(test.device.describe(test.device.allocate(kKiB)).chunks[0].region);
    }
    EXPECT_EQ(regions.size(), strategy == RegionStrategy::kFillFirst ? 1U : 2U);
  }
}

TEST(Device, InterleavesInEqualParts) {
  TestDevice test(TestDevice::of_size(kMiB, 3));
  const Allocation block =
      test.device.allocate({.bytes = 1000, .placement = Placement::interleave(0b111)});
  const AllocationInfo info = test.device.describe(block);
  ASSERT_EQ(info.chunks.size(), 3U);
  EXPECT_EQ(info.bytes, 1024U);
  EXPECT_EQ(info.chunks[0].bytes, 384U);
  EXPECT_EQ(info.chunks[1].bytes, 384U);
  EXPECT_EQ(info.chunks[2].bytes, 256U);
  for (DomainId domain = 0; domain < 3; ++domain) EXPECT_EQ(info.chunks[domain].domain, domain);
  EXPECT_TRUE(test.device.host_view(block).empty());
  test.device.free(block);
  for (DomainId domain = 0; domain < 3; ++domain) {
    EXPECT_EQ(test.usage(domain).current_bytes, 0U);
  }
  // Too little for three parts of a granule.
  const Allocation small =
      test.device.allocate({.bytes = 129, .placement = Placement::interleave(0b111)});
  EXPECT_EQ(test.device.describe(small).chunks.size(), 2U);
}

TEST(Device, InterleavesAllOrNothing) {
  TestDevice test(TestDevice::of_size(64 * kKiB, 2), test::undamped());
  const Allocation full =
      test.device.allocate({.bytes = 60 * kKiB, .placement = Placement::bind(1)});
  const AllocationRequest request{.bytes = 16 * kKiB, .placement = Placement::interleave(0b11)};
  try {
    test.device.allocate(request);
    FAIL();
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().domain, 1U);
    EXPECT_EQ(error.report().wanted_bytes, 8 * kKiB);
  }
  EXPECT_FALSE(test.device.try_allocate(request));
  EXPECT_EQ(test.usage(0).current_bytes, 0U) << "the part in domain 0 was given back";
  EXPECT_TRUE(test.consistent());
  test.device.free(full);
  EXPECT_TRUE(test.device.allocate(request));
}

TEST(Device, CopiesThroughAllChunks) {
  TestDevice test(TestDevice::of_size(kMiB, 3));
  std::vector<unsigned char> bytes(5000);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  const Allocation block =
      test.device.allocate({.bytes = bytes.size(), .placement = Placement::interleave(0b111)});
  test.device.write(block, 0, bytes.data(), bytes.size());
  std::vector<unsigned char> read(3000);
  test.device.read(block, 1500, read.data(), read.size());
  EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes.begin() + 1500));
  EXPECT_THROW(test.device.read(block, 3000, read.data(), 3000), UsageError);
  EXPECT_THROW(test.device.write(block, SIZE_MAX, bytes.data(), 1), UsageError);
}

TEST(Device, ShowsHostMemory) {
  TestDevice test(kMiB);
  const Allocation block = test.device.allocate(300);
  const auto view = test.device.host_view(block);
  ASSERT_EQ(view.size(), 300U);
  view[299] = std::byte{7};
  unsigned char byte = 0;
  test.device.read(block, 299, &byte, 1);
  EXPECT_EQ(byte, 7);
  HostBackendOptions declared = TestDevice::of_size(kMiB);
  declared.bytes = HostBytes::kNone;
  TestDevice none(declared);
  const Allocation nowhere = none.device.allocate(300);
  EXPECT_TRUE(none.device.host_view(nowhere).empty());
  EXPECT_THROW(none.device.write(nowhere, 0, &byte, 1), BackendError);
}

TEST(Device, DumpsTextAndJson) {
  TestDevice test(kMiB);
  const Allocation first = test.device.allocate(kKiB);
  test.device.allocate(kKiB);
  test.device.free(first);
  const std::string text = test.device.dump(DumpFormat::kText);
  EXPECT_NE(text.find("tensor: 1 KiB in 1 blocks, peak 2 KiB, reserved 1 MiB"), std::string::npos)
      << text;
  const std::string json = test.device.dump(DumpFormat::kJson);
  EXPECT_NE(json.find(R"("blocks":[{"offset":0,"bytes":1024,"state":"free"},)"
                      R"({"offset":1024,"bytes":1024,"state":"used","allocation":2},)"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace fallow::device
