// Deep structures are marked and promoted on a thread with a stack of 64 KiB: the collector does
// not recurse.
#include <pthread.h>

#include <cstdint>

#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// Sanitizers put their own data on the stack of each thread and enlarge every frame.
constexpr std::size_t kStackBytes = kSanitized ? 512 * kKiB : 64 * kKiB;

template <class Body>
void run_on_small_stack(Body& body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread{};
  const auto entry = [](void* argument) -> void* {
    (*static_cast<Body*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, entry, &body), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

struct Link : Object {
  explicit Link(std::uint64_t link_id) : id(link_id) {}
  Field<Link> next;
  std::uint64_t id;
  using Fields = FieldList<&Link::next>;
};

TEST(SmallStack, AListOfTenMillionNodes) {
  const Watchdog watchdog;
  const std::size_t length = scaled(10'000'000);
  Heap heap;
  std::uint64_t counted = 0;
  bool in_order = true;
  VerifyReport report;
  auto body = [&] {
    Mutator mutator(heap, "small stack");
    Local<Link> list(mutator);
    {
      AllocationCursor cursor(mutator);
      Ref<Link> head;
      for (std::uint64_t i = 0; i < length; ++i) {
        Ref<Link> link = cursor.make<Link>(live(head), i);
        link->next = head;
        head = link;
      }
      list = head;
    }
    heap.collect();
    for (const Link* link = list.get().get(); link != nullptr; link = link->next.get().get()) {
      in_order = in_order && link->id + ++counted == length;
    }
    report = heap.verify();
  };
  run_on_small_stack(body);
  EXPECT_EQ(counted, length);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(report.objects, length);
  EXPECT_EQ(complaints(report), "");
}

/// A tree of which every node has a leaf on the other side, so that neither link is the last one.
template <bool ChainOnTheLeft>
void check_chain_shaped_tree(const HeapOptions& options) {
  const Watchdog watchdog;
  const std::size_t depth = scaled(1'000'000);
  Heap heap(options);
  std::uint64_t counted = 0;
  bool intact = true;
  VerifyReport report;
  auto body = [&] {
    Mutator mutator(heap, "small stack");
    Local<Node> root(mutator, make<Node>(mutator, 0));
    Local<Node> last(mutator, root);
    // Top down: promotion meets the chain in the order of its links.
    for (std::uint64_t i = 1; i < depth; ++i) {
      Local<Node> leaf(mutator, make<Node>(mutator, ~i));
      Local<Node> node(mutator, make<Node>(mutator, i));
      (ChainOnTheLeft ? last->left : last->right) = node;
      (ChainOnTheLeft ? last->right : last->left) = leaf;
      last = node;
    }
    last = nullptr;
    heap.collect_minor();
    heap.collect();
    for (const Node* node = root.get().get(); node != nullptr; ++counted) {
      const Node* const leaf = (ChainOnTheLeft ? node->right : node->left).get().get();
      intact = intact && node->intact(counted) && (leaf == nullptr || leaf->intact(~(counted + 1)));
      node = (ChainOnTheLeft ? node->left : node->right).get().get();
    }
    report = heap.verify();
  };
  run_on_small_stack(body);
  EXPECT_EQ(counted, depth);
  EXPECT_TRUE(intact);
  EXPECT_EQ(report.objects, 2 * depth - 1);
  EXPECT_EQ(complaints(report), "");
}

TEST(SmallStack, AChainShapedTreeToTheLeft) { check_chain_shaped_tree<true>({}); }
TEST(SmallStack, AChainShapedTreeToTheRight) { check_chain_shaped_tree<false>({}); }

TEST(SmallStack, AChainPromotedByOneMinorCollection) {
  HeapOptions options = with_nursery(256 * kMiB);
  check_chain_shaped_tree<true>(options);
  check_chain_shaped_tree<false>(options);
}

TEST(SmallStack, AChainPromotedInSmallPieces) {
  check_chain_shaped_tree<true>(with_nursery(64 * kKiB));
}

TEST(SmallStack, AChainOfArrays) {
  const Watchdog watchdog;
  const std::size_t depth = scaled(300'000);
  Heap heap(with_nursery(4 * kMiB));
  std::uint64_t counted = 0;
  auto body = [&] {
    Mutator mutator(heap, "small stack");
    Local<Array<Object>> root(mutator);
    for (std::size_t i = 0; i < depth; ++i) {
      const Ref<Array<Object>> array = make_array<Object>(mutator, i % 150 + 1);
      array->set(i % array->length(), root);
      root = array;
    }
    heap.collect();
    for (const Array<Object>* array = root.get().get(); array != nullptr; ++counted) {
      const std::size_t index = (depth - 1 - counted) % array->length();
      array = static_cast<const Array<Object>*>(array->get(index).get());
    }
  };
  run_on_small_stack(body);
  EXPECT_EQ(counted, depth);
  EXPECT_EQ(expect_sound(heap).objects, 0U);
}

}  // namespace
}  // namespace fallow::test
