// expect: expects an lvalue|cannot bind non-const lvalue reference
#include "fallow/field.h"
#include "fallow/make.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) {
  return fallow::make<Node>(mutator, fallow::live(fallow::make<Node>(mutator)));
}
