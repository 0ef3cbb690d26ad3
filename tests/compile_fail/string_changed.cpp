// expect: deleted function
#include "fallow/array.h"

void wrong(const fallow::Ref<fallow::String>& string) { string->set(0, 'x'); }
