// expect: copy it to a Ref
#include "fallow/field.h"
#include "fallow/make.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator, const fallow::Ref<Node>& node) {
  return fallow::make<Node>(mutator, node->left);
}
