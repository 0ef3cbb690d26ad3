// expect: no matching (member )?function for call to
#include "fallow/array.h"
#include "fallow/field.h"

struct Node : fallow::Object {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Node::left>;
};

struct Other : fallow::Object {
  using Fields = fallow::FieldList<>;
};

void wrong(fallow::Array<Node>& array, const fallow::Ref<Other>& other) { array.set(0, other); }
