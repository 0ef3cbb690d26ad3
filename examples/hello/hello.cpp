// A linked list and a tree in a managed heap: what a first program with fallow looks like.
#include <fallow/array.h>
#include <fallow/field.h>
#include <fallow/heap.h>
#include <fallow/local.h>
#include <fallow/make.h>

#include <cstdio>

namespace {

struct Node : fallow::Object {
  Node(const fallow::Ref<Node>& rest, int number) : next(rest), value(number) {}
  fallow::Field<Node> next;
  int value;
  using Fields = fallow::FieldList<&Node::next>;
};

}  // namespace

int main() {
  fallow::Heap heap;
  fallow::Mutator mutator(heap, "main");

  fallow::Local<Node> list(mutator);
  for (int i = 0; i < 1'000'000; ++i) {
    list = fallow::make<Node>(mutator, list, i);
    if (i % 1000 == 999) list = nullptr;  // a thousand nodes become garbage
  }
  list = fallow::make<Node>(mutator, list, 42);
  heap.collect();

  const fallow::HeapStatistics figures = heap.statistics();
  std::printf("value %d; %llu minor and %llu full collections; %zu bytes in use\n", list->value,
              static_cast<unsigned long long>(figures.minor_collections),
              static_cast<unsigned long long>(figures.full_collections), figures.old_used);
  return list->value == 42 ? 0 : 1;
}
