// expect: the cursor allocates 8-byte aligned types
#include "fallow/cursor.h"

struct alignas(16) Node : fallow::Object {
  double item = 0;
  using Fields = fallow::FieldList<>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) {
  fallow::AllocationCursor cursor(mutator);
  return cursor.make<Node>();
}
