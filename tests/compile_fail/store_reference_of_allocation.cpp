// expect: may find the holder before
#include "fallow/dynamic.h"
#include "fallow/type.h"

void misuse(fallow::Mutator& mutator, const fallow::Ref<fallow::Object>& holder,
            const fallow::TypeDescriptor& type) {
  fallow::store_reference(holder, 8, fallow::allocate_object(mutator, type));
}
