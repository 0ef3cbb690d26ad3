// expect: managed types are aligned to at most 16 bytes
#include "fallow/make.h"

struct alignas(32) Node : fallow::Object {
  double items[3] = {};
  using Fields = fallow::FieldList<>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
