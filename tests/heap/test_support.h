// What the tests of the heap share: options, managed types with checksums, and the sweep over
// nursery sizes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "fallow/array.h"
#include "fallow/cursor.h"
#include "fallow/events.h"
#include "fallow/field.h"
#include "fallow/frame.h"
#include "fallow/global.h"
#include "fallow/heap.h"
#include "fallow/local.h"
#include "fallow/make.h"
#include "platform/sanitizer.h"
#include "platform/split_mix.h"
#include "tests/support.h"

namespace fallow::test {

/// The full amount of work in plain release builds, a part of it where everything is slower.
constexpr std::size_t scaled(std::size_t amount) {
  if (platform::thread_sanitizer_active()) return amount / 16 + 1;
  if (platform::address_sanitizer_active()) return amount / 8 + 1;
  if (detail::kChecked) return amount / 4 + 1;
  return amount;
}

/// FALLOW_TEST_STEPS multiplies the length of random tests: for soak runs.
inline std::size_t step_multiplier() {
  const char* const text = std::getenv("FALLOW_TEST_STEPS");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

/// FALLOW_TEST_SEED replaces the seeds of random tests: to repeat a failure.
inline std::uint64_t seed_or(std::uint64_t fallback) {
  const char* const text = std::getenv("FALLOW_TEST_SEED");
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 0);
}

/// Sizes at which known collectors have failed, although they worked at most others.
inline constexpr std::size_t kNurserySizes[] = {4 * kKiB,  4 * kKiB + 8,   8 * kKiB,  16 * kKiB,
                                                32 * kKiB, 33 * kKiB + 24, 64 * kKiB, 256 * kKiB,
                                                1 * kMiB,  4 * kMiB};

/// Runs `body(bytes)` for each size, up to the first fatal failure.
template <class Body>
void for_each_nursery_size(Body&& body) {
  for (const std::size_t bytes : kNurserySizes) {
    SCOPED_TRACE("nursery of " + std::to_string(bytes) + " bytes");
    body(bytes);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

inline HeapOptions with_nursery(std::size_t bytes) {
  HeapOptions options;
  options.nursery_bytes = bytes;
  return options;
}

/// Keeps all events of a heap.
struct Recorder : EventListener {
  void on_minor(const MinorEvent& event) override { minors.push_back(event); }
  void on_step(const StepEvent& event) override { steps.push_back(event); }
  void on_full(const FullEvent& event) override { fulls.push_back(event); }
  std::vector<MinorEvent> minors;
  std::vector<StepEvent> steps;
  std::vector<FullEvent> fulls;
};

/// A heap with a mutator for the calling thread.
struct TestHeap {
  explicit TestHeap(const HeapOptions& options = {}) : heap(options), mutator(heap, "test") {}
  Heap heap;
  Mutator mutator;
};

/// Spreads ids over all bits, so that the words of different objects differ everywhere.
constexpr std::uint64_t scramble(std::uint64_t value) { return platform::mix_bits(value); }

/// Two references and an identity that can be checked.
struct Node : Object {
  explicit Node(std::uint64_t node_id = 0) : id(node_id), check(scramble(node_id)) {}
  Node(std::uint64_t node_id, const Ref<Node>& first, const Ref<Node>& second)
      : left(first), right(second), id(node_id), check(scramble(node_id)) {}

  [[nodiscard]] bool intact(std::uint64_t expected) const {
    return id == expected && check == scramble(expected);
  }

  Field<Node> left;
  Field<Node> right;
  std::uint64_t id;
  std::uint64_t check;
  using Fields = FieldList<&Node::left, &Node::right>;
};

using Bytes = ValueArray<unsigned char>;

/// Fills a value array with content that depends on `id`, and recognises it.
inline void fill_pattern(Bytes& bytes, std::uint64_t id) {
  for (std::size_t i = 0; i < bytes.length(); ++i) {
    bytes.data()[i] = static_cast<unsigned char>(scramble(id + i / 8) >> (i % 8 * 8));
  }
}
inline bool has_pattern(const Bytes& bytes, std::uint64_t id) {
  for (std::size_t i = 0; i < bytes.length(); ++i) {
    if (bytes.data()[i] != static_cast<unsigned char>(scramble(id + i / 8) >> (i % 8 * 8))) {
      return false;
    }
  }
  return true;
}

inline std::string complaints(const VerifyReport& report) {
  std::string text;
  for (const std::string& complaint : report.complaints) text += complaint + "\n";
  return text;
}

/// Expects that the verifier has nothing to complain about; returns what it counted.
inline VerifyReport expect_sound(Heap& heap) {
  VerifyReport report = heap.verify();
  EXPECT_EQ(complaints(report), "");
  return report;
}

template <class T>
std::uintptr_t address_of(const Ref<T>& ref) {
  return reinterpret_cast<std::uintptr_t>(ref.get());
}
template <class T>
bool is_young(const Ref<T>& ref) {
  return detail::in_nursery(ref.get());
}

/// `array->set(index, make<T>(mutator))` would look the array up before the allocation moves it.
template <class T, class U>
void put(const Local<Array<T>>& array, std::size_t index, const Ref<U>& value) {
  array->set(index, value);
}

/// A list of `length` nodes linked by `right`, the ids counting down from length - 1 to 0.
inline Ref<Node> make_list(Mutator& mutator, std::size_t length) {
  Ref<Node> head;
  for (std::size_t i = 0; i < length; ++i) {
    Ref<Node> node = make<Node>(mutator, live(head), i);
    node->right = head;
    head = node;
  }
  return head;
}

/// The number of nodes of a list from make_list(), or 0 if one of them is damaged.
inline std::size_t check_list(const Ref<Node>& head) {
  if (!head) return 0;
  const std::uint64_t length = head->id + 1;
  std::uint64_t expected = length;
  const Node* node = head.get();
  while (node != nullptr) {
    if (expected == 0 || !node->intact(--expected)) return 0;
    node = node->right.get().get();
  }
  return expected == 0 ? length : 0;
}

/// Allocates and drops at least `bytes`.
inline void make_garbage(Mutator& mutator, std::size_t bytes) {
  for (std::size_t made = 0; made < bytes; made += sizeof(Node)) make<Node>(mutator);
}

/// A binary tree of the given depth, ids in heap order (children of n: 2n and 2n + 1).
inline Ref<Node> make_tree(Mutator& mutator, unsigned depth, std::uint64_t id = 1) {
  if (depth == 0) return {};
  Local<Node> left(mutator, make_tree(mutator, depth - 1, 2 * id));
  Local<Node> right(mutator, make_tree(mutator, depth - 1, 2 * id + 1));
  return make<Node>(mutator, id, left, right);
}
inline bool check_tree(const Ref<Node>& root, unsigned depth, std::uint64_t id = 1) {
  if (depth == 0) return root == nullptr;
  return root && root->intact(id) && check_tree(root->left, depth - 1, 2 * id) &&
         check_tree(root->right, depth - 1, 2 * id + 1);
}

}  // namespace fallow::test
