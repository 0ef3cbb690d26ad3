// expect: a FieldList names members of type Field
#include "fallow/field.h"
#include "fallow/make.h"

struct Node : fallow::Object {
  Node* raw = nullptr;
  using Fields = fallow::FieldList<&Node::raw>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
