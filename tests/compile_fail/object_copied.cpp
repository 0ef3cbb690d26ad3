// expect: deleted
#include "fallow/field.h"
#include "fallow/type.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

Node wrong(const Node& node) { return node; }
