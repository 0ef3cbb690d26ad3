// expect: finds the array before
#include "fallow/array.h"
#include "fallow/heap.h"

struct Item : fallow::Object {
  using Fields = fallow::FieldList<>;
};

void misuse(fallow::Mutator& mutator, fallow::Ref<fallow::Array<Item>> array) {
  array->fill(0, 1, fallow::make<Item>(mutator));
}
