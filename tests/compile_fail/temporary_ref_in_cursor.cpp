// expect: a temporary Ref would be stale in the constructor
#include "fallow/cursor.h"
#include "fallow/field.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) {
  fallow::AllocationCursor cursor(mutator);
  return cursor.make<Node>(cursor.make<Node>());
}
