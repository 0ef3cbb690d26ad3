// expect: a managed type has a trivial destructor
#include <string>

#include "fallow/make.h"

struct Node : fallow::Object {
  std::string name;
  using Fields = fallow::FieldList<>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
