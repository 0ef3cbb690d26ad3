// expect: a managed type derives from fallow::Object
#include "fallow/make.h"

struct Node {
  long value = 0;
  using Fields = fallow::FieldList<>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
