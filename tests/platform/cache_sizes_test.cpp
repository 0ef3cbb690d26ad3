#include "platform/cache_sizes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "temporary_directory.h"

namespace fallow::platform {
namespace {

using Source = CacheSizes::Source;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

// Builds a tree like the kernel's below /sys.
class CacheSizesTest : public testing::Test {
 protected:
  void index(int cpu, int number, const std::string& level, const std::string& type,
             const std::string& size, const std::string& shared = "0") {
    const std::string base = "devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                             std::to_string(number) + "/";
    tree_.write(base + "level", level + "\n");
    tree_.write(base + "type", type + "\n");
    tree_.write(base + "size", size + "\n");
    tree_.write(base + "shared_cpu_list", shared + "\n");
  }
  void online(const std::string& list) { tree_.write("devices/system/cpu/online", list + "\n"); }
  void levels(const std::string& l1d, const std::string& l2, const std::string& l3) {
    index(0, 0, "1", "Data", l1d);
    index(0, 2, "2", "Unified", l2);
    index(0, 3, "3", "Unified", l3);
  }
  CacheSizes detect(const CpuidSource& cpuid = {}) const {
    return detect_cache_sizes(tree_.path(), cpuid);
  }

  test::TemporaryDirectory tree_;
};

// A processor that answers from a table; anything else is zero.
using CpuidTable = std::map<std::pair<uint32_t, uint32_t>, CpuidRegisters>;
CpuidSource answering(CpuidTable table) {
  return [table = std::move(table)](uint32_t leaf, uint32_t subleaf) {
    const auto found = table.find({leaf, subleaf});
    return found == table.end() ? CpuidRegisters{} : found->second;
  };
}

// The words that describe one cache with lines of 64 bytes.
CpuidRegisters cache_words(uint32_t type, uint32_t level, uint32_t ways, uint32_t sets,
                           uint32_t sharing = 1) {
  CpuidRegisters words;
  words.eax = type | level << 5 | (sharing - 1) << 14;
  words.ebx = 63u | (ways - 1) << 22;
  words.ecx = sets - 1;
  return words;
}

CpuidSource intel_cpuid() {
  return answering({{{0, 0}, {.eax = 0x16}},
                    {{4, 0}, cache_words(1, 1, 12, 64)},           // 48 KiB
                    {{4, 1}, cache_words(2, 1, 8, 64)},            // instructions
                    {{4, 2}, cache_words(3, 2, 10, 2048)},         // 1.25 MiB
                    {{4, 3}, cache_words(3, 3, 12, 32768, 16)}});  // 24 MiB
}

TEST_F(CacheSizesTest, AmdZen) {
  online("0-1");
  for (int cpu = 0; cpu < 2; ++cpu) {
    index(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    index(cpu, 1, "1", "Instruction", "16K", std::to_string(cpu));
    index(cpu, 2, "2", "Unified", "512K", std::to_string(cpu));
    index(cpu, 3, "3", "Unified", "32768K", "0-1");
  }
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 512 * kKiB);
  EXPECT_EQ(sizes.l3, 32 * kMiB);
  EXPECT_EQ(sizes.source, Source::kSysfs);
  EXPECT_EQ(sizes.l3_source, Source::kSysfs);
  EXPECT_EQ(sizes.l2_shared_by, 1u);
  EXPECT_EQ(sizes.l3_shared_by, 2u);
  EXPECT_EQ(sizes.to_string(), "l1d 32 KiB, l2 512 KiB, l3 32 MiB (sysfs; l3 sysfs)");
}

TEST_F(CacheSizesTest, IntelHybridTakesTheSmallestOfEachLevel) {
  index(0, 0, "1", "Data", "48K", "0-1");
  index(0, 2, "2", "Unified", "1280K", "0-1");
  index(0, 3, "3", "Unified", "30720K", "0-19");
  index(16, 0, "1", "Data", "32K", "16");
  index(16, 2, "2", "Unified", "2048K", "16-19");
  index(16, 3, "3", "Unified", "30720K", "0-19");
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 1280 * kKiB);
  EXPECT_EQ(sizes.l3, 30 * kMiB);
  EXPECT_EQ(sizes.l2_shared_by, 2u);
  EXPECT_EQ(sizes.l3_shared_by, 20u);
}

TEST_F(CacheSizesTest, OfflineCoresDoNotCount) {
  online("0,2-3");
  index(0, 0, "1", "Data", "64K");
  index(0, 2, "2", "Unified", "1024K");
  index(1, 0, "1", "Data", "16K");
  index(1, 2, "2", "Unified", "128K");
  EXPECT_EQ(detect().l1d, 64 * kKiB);
  EXPECT_EQ(detect().l2, kMiB);
}

TEST_F(CacheSizesTest, ArmBigLittleWithoutLevel3) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    index(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    index(cpu, 1, "1", "Instruction", "32K", std::to_string(cpu));
    index(cpu, 2, "2", "Unified", "512K", "0-3");
  }
  for (int cpu = 4; cpu < 6; ++cpu) {
    index(cpu, 0, "1", "Data", "64K", std::to_string(cpu));
    index(cpu, 1, "1", "Instruction", "64K", std::to_string(cpu));
    index(cpu, 2, "2", "Unified", "1024K", "4-5");
  }
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 512 * kKiB);
  EXPECT_EQ(sizes.l2_shared_by, 4u);
  EXPECT_EQ(sizes.l3, 4 * kMiB);
  EXPECT_EQ(sizes.l3_source, Source::kFallback);
  EXPECT_EQ(sizes.source, Source::kSysfs);
}

TEST_F(CacheSizesTest, Level3IsNeverBelowLevel2) {
  levels("128K", "12288K", "8192K");
  EXPECT_EQ(detect().l2, 12 * kMiB);
  EXPECT_EQ(detect().l3, 12 * kMiB);
  EXPECT_EQ(detect().l3_source, Source::kFallback);
}

TEST_F(CacheSizesTest, OneMebibyteEverywhere) {
  // Some ARM systems report 1 MiB for whatever they do not know.
  levels("1024K", "1024K", "1024K");
  const CacheSizes sizes = detect();
  EXPECT_LE(sizes.l1d, sizes.l2);
  EXPECT_LE(sizes.l2, sizes.l3);
  EXPECT_EQ(sizes.l2, kMiB);
}

TEST_F(CacheSizesTest, Level2BelowLevel1RejectsBoth) {
  levels("1024K", "512K", "16M");
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 256 * kKiB);
  EXPECT_EQ(sizes.source, Source::kFallback);
  EXPECT_EQ(sizes.l3, 16 * kMiB);
  EXPECT_EQ(detect(intel_cpuid()).l1d, 48 * kKiB);
}

TEST_F(CacheSizesTest, AbsurdValuesAreRejectedOneByOne) {
  const std::string kAbsurd[] = {"0K",
                                 "1K",
                                 "-1",
                                 "-32K",
                                 "9999999999G",
                                 "18446744073709551615K",
                                 "99999999999999999999999K",
                                 "K",
                                 "",
                                 "32 K",
                                 "0x8000",
                                 "3.5M",
                                 "32KB",
                                 "many"};
  for (const std::string& bad : kAbsurd) {
    SCOPED_TRACE(bad);
    levels(bad, "512K", "8192K");
    EXPECT_EQ(detect().l1d, 32 * kKiB);
    EXPECT_EQ(detect().l2, 512 * kKiB);
    EXPECT_EQ(detect().source, Source::kFallback);
    levels("48K", bad, "8192K");
    EXPECT_EQ(detect().l1d, 48 * kKiB);
    EXPECT_EQ(detect().l2, 256 * kKiB);
    EXPECT_EQ(detect().source, Source::kFallback);
    EXPECT_EQ(detect().l3, 8 * kMiB);
    levels("48K", "512K", bad);
    EXPECT_EQ(detect().l2, 512 * kKiB);
    EXPECT_EQ(detect().source, Source::kSysfs);
    EXPECT_EQ(detect().l3, 4 * kMiB);
  }
}

TEST_F(CacheSizesTest, RangesAreInclusive) {
  levels("4K", "64K", "4194304K");
  EXPECT_EQ(detect().l1d, 4 * kKiB);
  EXPECT_EQ(detect().l2, 64 * kKiB);
  EXPECT_EQ(detect().l3, size_t{4} << 30);
  levels("2M", "65M", "5G");
  EXPECT_EQ(detect().source, Source::kFallback);
  EXPECT_EQ(detect().l3_source, Source::kFallback);
  levels("32768", "524288", "64M");  // plain bytes
  EXPECT_EQ(detect().l2, 512 * kKiB);
}

TEST_F(CacheSizesTest, SumOfMaximaCannotOverflow) {
  levels("1M", "64M", "4G");
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.l1d + sizes.l2 + sizes.l3, kMiB + 64 * kMiB + (size_t{4} << 30));
  levels("18446744073709551615", "18446744073709551615", "18446744073709551615");
  EXPECT_EQ(detect().l1d + detect().l2 + detect().l3, 32 * kKiB + 256 * kKiB + 4 * kMiB);
}

TEST_F(CacheSizesTest, OneBadCoreDoesNotHideTheOthers) {
  index(0, 0, "1", "Data", "0K");
  index(0, 2, "2", "Unified", "1K");
  index(1, 0, "1", "Data", "64K");
  index(1, 2, "2", "Unified", "2048K");
  EXPECT_EQ(detect().l1d, 64 * kKiB);
  EXPECT_EQ(detect().l2, 2 * kMiB);
}

TEST_F(CacheSizesTest, BrokenTrees) {
  EXPECT_EQ(detect_cache_sizes(tree_.file("absent"), CpuidSource{}).source, Source::kFallback);
  EXPECT_EQ(detect().source, Source::kFallback);  // empty directory
  tree_.write("devices/system/cpu/cpu0/cache/index0/level", "");
  tree_.write("devices/system/cpu/cpu0/cache/index0/type", "");
  tree_.write("devices/system/cpu/cpu0/cache/index0/size", "");
  tree_.write("devices/system/cpu/cpu0/cache/index2/level", "2\n");
  tree_.write("devices/system/cpu/cpu0/cache/index2/type", "Unified\n");  // no size
  tree_.write("devices/system/cpu/cpufreq/cache/index0/size", "32K\n");
  tree_.write("devices/system/cpu/cpu1/cache/indexes/size", "32K\n");
  tree_.write("devices/system/cpu/cpu2/cache", "a file\n");
  index(3, 0, "one", "Data", "48K");
  index(3, 1, "99999999999999999999", "Data", "48K");
  index(3, 2, "-1", "Data", "48K");
  index(3, 4, "0", "Data", "48K");
  index(3, 5, "4", "Unified", "131072K");
  online("x-y,,-,3-1,");
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.source, Source::kFallback);
  EXPECT_EQ(sizes.l3_source, Source::kFallback);
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
}

TEST_F(CacheSizesTest, AbsurdSharingCountsAsUnknown) {
  index(0, 0, "1", "Data", "32K");
  index(0, 2, "2", "Unified", "512K", "0-18446744073709551615");
  EXPECT_EQ(detect().l2, 512 * kKiB);
  EXPECT_EQ(detect().l2_shared_by, 1u);
  index(0, 2, "2", "Unified", "512K", "");
  EXPECT_EQ(detect().l2_shared_by, 1u);
}

TEST_F(CacheSizesTest, IntelCpuid) {
  const CacheSizes sizes = detect(intel_cpuid());
  EXPECT_EQ(sizes.l1d, 48 * kKiB);
  EXPECT_EQ(sizes.l2, 1280 * kKiB);
  EXPECT_EQ(sizes.l3, 24 * kMiB);
  EXPECT_EQ(sizes.l3_shared_by, 16u);
  EXPECT_EQ(sizes.source, Source::kCpuid);
}

TEST_F(CacheSizesTest, AmdCpuid) {
  CpuidTable table = {{{0, 0}, {.eax = 0x10}},
                      {{0x80000000, 0}, {.eax = 0x80000023}},
                      {{0x80000001, 0}, {.ecx = 1u << 22}},
                      {{0x8000001D, 0}, cache_words(1, 1, 8, 64)},
                      {{0x8000001D, 1}, cache_words(2, 1, 8, 64)},
                      {{0x8000001D, 2}, cache_words(3, 2, 8, 1024)},
                      {{0x8000001D, 3}, cache_words(3, 3, 16, 32768)}};
  const CacheSizes sizes = detect(answering(table));
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 512 * kKiB);
  EXPECT_EQ(sizes.l3, 32 * kMiB);
  EXPECT_EQ(sizes.source, Source::kCpuid);
  table[{0x80000001, 0}].ecx = 0;  // leaf not supported
  EXPECT_EQ(detect(answering(table)).source, Source::kFallback);
}

TEST_F(CacheSizesTest, CpuidFillsInWhatSysfsLacks) {
  index(0, 0, "1", "Data", "32K");
  const CacheSizes sizes = detect(intel_cpuid());
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 1280 * kKiB);
  EXPECT_EQ(sizes.source, Source::kCpuid);
}

TEST_F(CacheSizesTest, MixedSourcesStayConsistent) {
  index(0, 0, "1", "Data", "1024K");  // plausible alone, but not with the assumed level 2
  const CacheSizes sizes = detect();
  EXPECT_EQ(sizes.l1d, 32 * kKiB);
  EXPECT_EQ(sizes.l2, 256 * kKiB);
}

TEST_F(CacheSizesTest, CpuidThatNeverEndsOrAnswersNonsense) {
  int calls = 0;
  const CacheSizes all_ones = detect([&calls](uint32_t, uint32_t) {
    ++calls;
    return CpuidRegisters{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  });
  EXPECT_LT(calls, 100);
  EXPECT_EQ(all_ones.source, Source::kFallback);
  const CacheSizes data = detect([](uint32_t, uint32_t) {
    return CpuidRegisters{0xFFFFFF21, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  });
  EXPECT_EQ(data.source, Source::kFallback);
}

TEST(CacheSizesOfThisMachine, AreConsistent) {
  const CacheSizes sizes = detect_cache_sizes();
  EXPECT_GE(sizes.l1d, 4 * kKiB);
  EXPECT_LE(sizes.l1d, sizes.l2);
  EXPECT_LE(sizes.l2, sizes.l3);
  EXPECT_GE(sizes.l2_shared_by, 1u);
  const CacheSizes without_sysfs = detect_cache_sizes("/nonexistent");
  EXPECT_LE(without_sysfs.l1d, without_sysfs.l2);
}

}  // namespace
}  // namespace fallow::platform
