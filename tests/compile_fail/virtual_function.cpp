// expect: a managed type has no virtual functions
#include "fallow/make.h"

struct Node : fallow::Object {
  virtual int value() const { return 1; }
  using Fields = fallow::FieldList<>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
