// expect: pointer to member type .* incompatible with object type|must be a class compatible with
// the right hand operand
#include "fallow/field.h"
#include "fallow/make.h"

struct Other : fallow::Object {
  fallow::Field<Other> link;
  using Fields = fallow::FieldList<&Other::link>;
};

struct Node : fallow::Object {
  fallow::Field<Node> left;
  using Fields = fallow::FieldList<&Other::link>;
};

fallow::Ref<Node> wrong(fallow::Mutator& mutator) { return fallow::make<Node>(mutator); }
