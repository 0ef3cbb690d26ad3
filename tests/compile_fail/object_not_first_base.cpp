// expect: Object is the first base
#include "fallow/make.h"

struct Data {
  long first = 1;
};

struct Item : Data, fallow::Object {
  using Fields = fallow::FieldList<>;
};

void misuse(fallow::Mutator& mutator) { fallow::make<Item>(mutator); }
