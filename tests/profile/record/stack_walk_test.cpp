// Call stacks: walked, merged with the embedder's frames, cut when they are deep, and interned.
#include "profile/record/stack_walk.h"

#include <memory>

#include "profile/record/frame_trie.h"
#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

using profile::Frame;
using profile::FunctionId;
using profile::NodeKind;
using profile::Recorder;
using profile::StackEntry;
using profile::StackTrace;

class StackWalk : public RecordTest {
 protected:
  [[nodiscard]] std::string name_of(const profile::Recording& recording,
                                    const profile::Node& node) const {
    if (node.kind == NodeKind::kEmbedded) {
      return recording.text(recording.definitions.functions[node.value].name);
    }
    if (node.kind == NodeKind::kMarker) {
      return recording.text(static_cast<std::uint32_t>(node.value));
    }
    return "native";
  }
};

/// An interpreter: a Frame for each call, `depth` of them.
[[gnu::noinline]] void interpret(SampledAllocator& allocator, FunctionId function, int depth) {
  Frame frame(function);
  frame.set_position(static_cast<std::uint32_t>(depth));
  if (depth > 1) {
    interpret(allocator, function, depth - 1);
  } else {
    allocator.allocate(64);
  }
  asm volatile("");  // the call is no tail call
}

TEST_F(StackWalk, EmbeddedFramesLieBetweenTheNativeOnes) {
  const profile::PositionLine lines[] = {{1, 10}, {2, 20}, {3, 30}};
  const FunctionId function = profile::register_function({"fib\xff", "fib.lang", 5, lines});
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  interpret(allocator, function, 3);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), 1U);
  std::vector<std::string> names;
  std::vector<std::uint64_t> positions;
  for (const profile::Node& node : stack_of(recording, recording.samples[0].node)) {
    names.push_back(name_of(recording, node));
    if (node.kind == NodeKind::kEmbedded) positions.push_back(node.detail);
  }
  ASSERT_GE(names.size(), 8U);
  // allocate(), then for each call the Frame and the interpreter that has made it, then the test.
  const std::vector<std::string> expected = {"native", "fib\xff", "native", "fib\xff",
                                             "native", "fib\xff", "native"};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), names.begin()))
      << ::testing::PrintToString(names);
  EXPECT_EQ(positions, (std::vector<std::uint64_t>{1, 2, 3}));
  const profile::Function& known = recording.definitions.functions.at(1);
  EXPECT_EQ(recording.text(known.file), "fib.lang");
  EXPECT_EQ(known.first_line, 5U);
  ASSERT_EQ(known.lines.size(), 3U);
  EXPECT_EQ(known.lines[1], (std::pair<std::uint64_t, std::uint64_t>{2, 20}));
}

TEST_F(StackWalk, WithoutNativeStacksOnlyEmbeddedFramesRemain) {
  const FunctionId function = profile::register_function({"run", "", 0, {}});
  profile::RecorderOptions given = options(1);
  given.native = profile::NativeStacks::kOff;
  Recorder recorder(given);
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  interpret(allocator, function, 2);
  allocator.allocate(8);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), 2U);
  EXPECT_EQ(stack_of(recording, recording.samples[0].node).size(), 2U);
  EXPECT_EQ(recording.samples[1].node, 0U);
}

TEST_F(StackWalk, FramesElsewhereAreTheInnermost) {
  const FunctionId function = profile::register_function({"coroutine", "", 0, {}});
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  {
    const auto frame = std::make_unique<Frame>(function);
    allocator.allocate(8);
  }
  EXPECT_EQ(Frame::innermost(), nullptr);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  const auto stack = stack_of(recording, recording.samples.at(0).node);
  ASSERT_GE(stack.size(), 2U);
  EXPECT_EQ(stack[0].kind, NodeKind::kEmbedded);
}

[[gnu::noinline]] void recurse(SampledAllocator& allocator, int depth) {
  if (depth % 25'000 == 1) allocator.allocate(64);
  if (depth > 1) recurse(allocator, depth - 1);
  asm volatile("");
}

TEST_F(StackWalk, DeepRecursionKeepsBothEnds) {
  if (kSanitized) GTEST_SKIP() << "frames are too large for the stack";
  Recorder recorder(options(1));
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  recurse(allocator, 100'000);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_EQ(recording.samples.size(), 4U);
  std::vector<std::uint64_t> roots;
  for (const profile::Sample& sample : recording.samples) {
    const auto stack = stack_of(recording, sample.node);
    ASSERT_EQ(stack.size(), StackTrace::kLeafFrames + 1 + StackTrace::kRootFrames);
    EXPECT_EQ(name_of(recording, stack[StackTrace::kLeafFrames]), "(deep stack cut)");
    roots.push_back(stack.back().value);
  }
  // Found by walking the first time, and from where the last walk ended afterwards.
  EXPECT_EQ(roots, std::vector<std::uint64_t>(4, roots[0]));
}

TEST_F(StackWalk, ByLibunwindFindsTheSameCallers) {
  std::vector<std::vector<std::uint64_t>> stacks;
  for (const auto method : {profile::NativeStacks::kFramePointers, profile::NativeStacks::kFast}) {
    profile::RecorderOptions given = options(1);
    given.overwrite = true;
    given.native = method;
    Recorder recorder(given);
    try {
      recorder.start();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    SampledAllocator allocator(recorder, 1);
    recurse(allocator, 1);
    recorder.stop();
    const profile::Recording recording = read_sound(path());
    std::vector<std::uint64_t> addresses;
    for (const auto& node : stack_of(recording, recording.samples.at(0).node)) {
      addresses.push_back(node.value);
    }
    stacks.push_back(addresses);
  }
  // The call in this function is made in two rounds of one loop: the same addresses.
  ASSERT_GE(stacks[0].size(), 3U);
  ASSERT_GE(stacks[1].size(), 3U);
  EXPECT_TRUE(std::equal(stacks[0].begin(), stacks[0].begin() + 3, stacks[1].begin()));
}

TEST_F(StackWalk, CopiedStacksAreInTheFile) {
  profile::RecorderOptions given = options(1);
  given.native = profile::NativeStacks::kCopy;
  Recorder recorder(given);
  recorder.start();
  SampledAllocator allocator(recorder, 1);
  for (int i = 0; i < 10; ++i) allocator.allocate(8);
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  EXPECT_EQ(recording.samples.size(), 10U);
  EXPECT_EQ(recording.raw_stacks, 10U);
  EXPECT_GT(std::filesystem::file_size(path()), 1000U);
}

TEST_F(StackWalk, ReadsNothingOutsideTheStack) {
  // A stack of our own making, with whatever may lie there.
  alignas(16) std::uintptr_t words[64];
  const auto base = reinterpret_cast<std::uintptr_t>(words);
  platform::SplitMix64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    for (std::uintptr_t& word : words) {
      const std::uint64_t choice = random.next() % 4;
      word = choice == 0   ? random.next()
             : choice == 1 ? base + random.next() % (sizeof words + 64) / 8 * 8
             : choice == 2 ? base + random.next() % sizeof words / 16 * 16
                           : 0;
    }
    StackTrace trace;
    profile::RootAnchor anchor{base + random.next() % sizeof words / 16 * 16};
    profile::walk_frames(base + random.next() % (2 * sizeof words) / 8 * 8,
                         {base, base + sizeof words}, nullptr, &anchor, trace);
    EXPECT_LE(trace.depth(), std::size(words) / 2);
  }
}

TEST(FrameTrie, GivesTheSameNodeForTheSameStackAndIsBounded) {
  profile::FrameTrie trie;
  ASSERT_TRUE(trie.allocate());
  const StackEntry cut = StackEntry::of(NodeKind::kMarker, 1);
  const StackEntry full = StackEntry::of(NodeKind::kMarker, 2);
  trie.clear(cut, full);
  const auto stack = [](std::uint64_t leaf) {
    StackTrace trace;
    trace.add(StackEntry::of(NodeKind::kNative, 0x1000 + leaf));
    trace.add(StackEntry::of(NodeKind::kEmbedded, 7, static_cast<std::uint32_t>(leaf % 3)));
    trace.add(StackEntry::of(NodeKind::kNative, 0x500));
    return trace;
  };
  EXPECT_EQ(trie.node_of(StackTrace()), 0U);
  constexpr std::uint32_t kStacks = 1'200'000;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < kStacks; ++i) nodes.push_back(trie.node_of(stack(i)));
  EXPECT_EQ(trie.size(), profile::FrameTrie::kMaxNodes);
  EXPECT_GT(trie.overflows(), 0U);
  EXPECT_EQ(nodes.back(), 1U) << "the overflow node";
  for (std::uint32_t i = 0; i < kStacks; i += 1001) ASSERT_EQ(trie.node_of(stack(i)), nodes[i]);
  for (std::uint32_t i = 1; i <= trie.size(); ++i) ASSERT_LT(trie.node(i).parent, i);
  EXPECT_LE(trie.memory_bytes(), 26 * kMiB);
  trie.clear(cut, full);
  EXPECT_EQ(trie.size(), 1U);
  EXPECT_EQ(trie.node_of(stack(0)), 4U);
}

TEST(StackTraceHash, DiffersWhenAnythingKeptDiffers) {
  const auto hash = [](std::size_t depth, std::uint64_t odd_one, std::uint64_t value) {
    StackTrace trace;
    for (std::size_t i = 0; i < depth; ++i) {
      trace.add(StackEntry::of(NodeKind::kNative, i == odd_one ? value : 0x1000 + i));
    }
    return trace.hash();
  };
  EXPECT_NE(hash(5, 2, 1), hash(5, 2, 2));
  EXPECT_NE(hash(5, 9, 0), hash(6, 9, 0));
  EXPECT_NE(hash(300, 299, 1), hash(300, 299, 2));
  EXPECT_NE(hash(240, 900, 0), hash(241, 900, 0)) << "one of them is cut";
  EXPECT_EQ(hash(300, 299, 1), hash(300, 299, 1));
}

}  // namespace
}  // namespace fallow::test
