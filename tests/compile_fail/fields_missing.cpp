// expect: a managed type lists its reference members
#include "fallow/field.h"
#include "fallow/make.h"

struct Node : fallow::Object {
  fallow::Field<Node> left;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
