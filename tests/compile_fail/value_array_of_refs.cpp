// expect: value arrays hold trivially copyable items
#include <string>

#include "fallow/array.h"
#include "fallow/local.h"

void wrong(fallow::Mutator& mutator) {
  fallow::make_values<fallow::ValueArray<std::string>>(mutator, 3);
}
