// expect: no match for .operator=|no viable overloaded .=
#include "fallow/field.h"
#include "fallow/type.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

struct Other : fallow::Object {
  using Fields = fallow::FieldList<>;
};

void wrong(const fallow::Ref<Node>& node, const fallow::Ref<Other>& other) { node->left = other; }
