// Names of addresses in this very program.
#include "profile/analysis/elf_symbolizer.h"

#include <gtest/gtest.h>
#include <link.h>

#include <filesystem>

#include "profile/analysis/demangle.h"

namespace fallow::profile {

// Not in an unnamed namespace: its symbol is looked for.
std::uint64_t address_inside_inlined();

namespace {

[[gnu::always_inline]] inline std::uint64_t inlined_for_the_test() {
  std::uint64_t here = 0;
  // One byte before the next instruction, that is, in this one.
  asm volatile("leaq -1(%%rip), %0" : "=r"(here));
  return here;
}

LoadedFile this_program() {
  LoadedFile file;
  file.path = std::filesystem::read_symlink("/proc/self/exe").string();
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* bias) {
        *static_cast<std::uint64_t*>(bias) = info->dlpi_addr;
        return 1;
      },
      &file.bias);
  return file;
}

}  // namespace

[[gnu::noinline]] std::uint64_t address_inside_inlined() { return inlined_for_the_test(); }

TEST(ElfSymbolizer, NamesWhatIsInlined) {
  ElfSymbolizer symbolizer;
  const LoadedFile file = this_program();
  const auto frames = symbolizer.find(file, address_inside_inlined());
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].name, "fallow::profile::address_inside_inlined()");
  EXPECT_NE(frames[1].name.find("inlined_for_the_test"), std::string::npos) << frames[1].name;
  for (const SymbolFrame& frame : frames) {
    EXPECT_TRUE(frame.file.ends_with("elf_symbolizer_test.cpp")) << frame.file;
    EXPECT_GT(frame.line, 0U);
  }
  EXPECT_TRUE(symbolizer.warnings().empty());
}

TEST(ElfSymbolizer, UsesNoOtherBuild) {
  ElfSymbolizer symbolizer;
  LoadedFile file = this_program();
  file.build_id = "00112233445566778899aabbccddeeff00112233";
  EXPECT_TRUE(symbolizer.find(file, address_inside_inlined()).empty());
  ASSERT_EQ(symbolizer.warnings().size(), 1U);
  EXPECT_NE(symbolizer.warnings()[0].find("has changed"), std::string::npos);
  // Asked again, it complains no more.
  EXPECT_TRUE(symbolizer.find(file, address_inside_inlined()).empty());
  EXPECT_EQ(symbolizer.warnings().size(), 1U);
}

TEST(ElfSymbolizer, FilesThatAreNone) {
  ElfSymbolizer symbolizer;
  const LoadedFile files[] = {{"/no/such/file", "", 0},
                              {"/dev/zero", "", 0},
                              {"/etc/passwd", "", 0},
                              {"[vdso]", "", 0},
                              {"", "", 0}};
  for (const LoadedFile& file : files) {
    EXPECT_TRUE(symbolizer.find(file, 0x1234).empty()) << file.path;
  }
  EXPECT_EQ(symbolizer.warnings().size(), 4U);
}

TEST(Demangle, NamesOfCppAndOthers) {
  EXPECT_EQ(demangle("_ZN6fallow4Heap7collectEv"), "fallow::Heap::collect()");
  EXPECT_EQ(demangle("_ZN6fallow4Heap7collectEv.cold"), "fallow::Heap::collect()");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangle(("_Z" + std::string(100'000, '1')).c_str()).size(), 100'002U);
}

}  // namespace fallow::profile
