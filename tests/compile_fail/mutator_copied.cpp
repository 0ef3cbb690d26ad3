// expect: deleted
#include "fallow/field.h"
#include "fallow/mutator.h"
#include "fallow/type.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

fallow::Mutator wrong(fallow::Mutator& mutator) { return mutator; }
