// The machine code of the allocation loop: load free, add, compare with the limit, store free,
// store the header, and nothing else. A cursor's loop has no load and stores the objects only.
#include "tests/codegen/alloc_loop.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

struct Instruction {
  std::uint64_t address;
  std::string text;  ///< in AT&T syntax, without comments
};
using Code = std::vector<Instruction>;

/// Instructions of a function of this program; empty when there is no disassembler.
Code disassemble(const std::string& function) {
  const std::string command = "objdump --no-show-raw-insn --disassemble=" + function + " /proc/" +
                              std::to_string(getpid()) + "/exe 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  Code code;
  char line[512];
  const std::regex form(R"(\s*([0-9a-f]+):\s+(.*?)\s*(?:[#<].*)?\n?)");
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    std::cmatch match;
    if (!std::regex_match(line, match, form) || match[2].length() == 0) continue;
    code.push_back({std::stoull(match[1], nullptr, 16), match[2]});
  }
  return code;
}

/// The shortest loop without a call: the instructions from the target of a jump back to the jump.
Code hot_loop(const Code& code) {
  Code shortest;
  for (std::size_t end = 0; end < code.size(); ++end) {
    std::smatch match;
    if (!std::regex_match(code[end].text, match, std::regex(R"(j\w+\s+([0-9a-f]+))"))) continue;
    const std::uint64_t target = std::stoull(match[1], nullptr, 16);
    if (target > code[end].address || target < code.front().address) continue;
    Code loop;
    bool calls = false;
    for (std::size_t i = 0; i <= end; ++i) {
      if (code[i].address < target) continue;
      // Padding inside the loop is executed too, and counts.
      loop.push_back(code[i]);
      calls = calls || code[i].text.starts_with("call");
    }
    if (!calls && (shortest.empty() || loop.size() < shortest.size())) shortest = loop;
  }
  return shortest;
}

/// What the instructions of a loop read from memory and write to it, as operands
/// "offset(%register)".
struct MemoryAccesses {
  std::vector<std::string> loads;
  std::vector<std::string> stores;
};

MemoryAccesses memory_accesses(const Code& loop) {
  MemoryAccesses accesses;
  const std::regex form(R"((\w+)\s+(.*?)((?:0x[0-9a-f]+)?\([^)]*\))(.*))");
  for (const Instruction& instruction : loop) {
    std::smatch match;
    if (!std::regex_match(instruction.text, match, form)) continue;
    const std::string name = match[1];
    if (name.starts_with("lea") || name.starts_with("nop")) continue;
    // The last operand is the target; a comparison has none.
    const bool is_target = match[4].length() == 0 && !name.starts_with("cmp");
    std::string operand = match[3];
    if (operand.starts_with("0x0(")) operand = operand.substr(3);
    (is_target ? accesses.stores : accesses.loads).push_back(operand);
  }
  return accesses;
}

/// Whether an operand is the word behind `free`: by its offset, or by a register that was set up
/// so.
bool is_limit(const std::string& operand, const std::string& free, const Code& code) {
  if (operand == "0x8" + free) return true;
  for (const Instruction& instruction : code) {
    std::smatch match;
    if (std::regex_match(instruction.text, match, std::regex(R"(lea\s+0x8\(%\w+\),(%\w+))")) &&
        operand == "(" + match[1].str() + ")") {
      return true;
    }
  }
  return false;
}

std::string listing(const Code& code) {
  std::string text;
  for (const Instruction& instruction : code) text += instruction.text + "\n";
  return text;
}

/// The hot loop of a function; empty where the test is skipped.
void find_loop(const std::string& function, std::size_t most_instructions, Code& code, Code& loop) {
  if constexpr (detail::kChecked || kSanitized) {
    GTEST_SKIP() << "only the code of plain release builds has this shape";
  }
  utsname machine{};
  ASSERT_EQ(uname(&machine), 0);
  if (std::string(machine.machine) != "x86_64") GTEST_SKIP() << "knows x86-64 code only";
  code = disassemble(function);
  if (code.empty()) GTEST_SKIP() << "there is no objdump";
  loop = hot_loop(code);
  ASSERT_FALSE(loop.empty()) << "no loop without a call in\n" << listing(code);
  EXPECT_LE(loop.size(), most_instructions) << listing(loop);
}

void check_loop(const std::string& function, std::size_t most_instructions,
                std::size_t initialising_stores) {
  Code code;
  Code loop;
  find_loop(function, most_instructions, code, loop);
  if (loop.empty()) return;
  SCOPED_TRACE(listing(loop));
  const MemoryAccesses memory = memory_accesses(loop);
  ASSERT_EQ(memory.loads.size(), 2U) << "free and limit are read, nothing else";
  ASSERT_EQ(memory.stores.size(), 2U + initialising_stores) << "free, the header, the fields";
  // The mutator's first word is read and written, its second one read only.
  const bool free_first = is_limit(memory.loads[1], memory.loads[0], code);
  const std::string free = memory.loads[free_first ? 0 : 1];
  EXPECT_TRUE(is_limit(memory.loads[free_first ? 1 : 0], free, code));
  EXPECT_EQ(free.front(), '(') << "free has the offset 0";
  EXPECT_EQ(std::count(memory.stores.begin(), memory.stores.end(), free), 1);
  for (const Instruction& instruction : loop) {
    EXPECT_EQ(instruction.text.find("%fs:"), std::string::npos) << "no thread-local data";
    EXPECT_FALSE(instruction.text.starts_with("lock")) << "no atomic read-modify-write";
    EXPECT_FALSE(instruction.text.starts_with("xchg")) << "no atomic read-modify-write";
  }
}

TEST(AllocationLoop, WithoutInitialisation) {
  check_loop("fallow_test_loop_without_initialisation", 12, 0);
}

TEST(AllocationLoop, WithInitialisation) {
  check_loop("fallow_test_loop_with_initialisation", 13, 1);
}

void check_cursor_loop(const std::string& function, std::size_t stores) {
  Code code;
  Code loop;
  // One less than without a cursor; compilers differ in moves between registers.
  find_loop(function, 10 + stores, code, loop);
  if (loop.empty()) return;
  SCOPED_TRACE(listing(loop));
  const MemoryAccesses memory = memory_accesses(loop);
  EXPECT_EQ(memory.loads.size(), 0U) << "free and limit are in registers";
  EXPECT_EQ(memory.stores.size(), stores) << "the header, the fields";
}

TEST(AllocationLoop, CursorWithoutInitialisation) {
  check_cursor_loop("fallow_test_cursor_without_initialisation", 1);
}

TEST(AllocationLoop, CursorWithInitialisation) {
  check_cursor_loop("fallow_test_cursor_with_initialisation", 2);
}

TEST(AllocationLoop, TheLoopsAllocate) {
  TestHeap test(with_nursery(64 * kKiB));
  constexpr std::uint64_t kCount = 100'000;
  fallow_test_loop_without_initialisation(test.mutator, kCount);
  fallow_test_loop_with_initialisation(test.mutator, kCount);
  fallow_test_cursor_without_initialisation(test.mutator, kCount);
  fallow_test_cursor_with_initialisation(test.mutator, kCount);
  EXPECT_GE(test.heap.statistics().allocated, 4 * kCount * kMinimumObjectBytes);
  expect_sound(test.heap);
}

}  // namespace
}  // namespace fallow::test
