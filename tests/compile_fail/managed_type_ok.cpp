// The code that the other files of this folder get wrong in one point each.
#include <cstddef>

#include "fallow/array.h"
#include "fallow/cursor.h"
#include "fallow/field.h"
#include "fallow/global.h"
#include "fallow/heap.h"
#include "fallow/local.h"
#include "fallow/make.h"

struct Base : fallow::Object {};

struct Node : Base {
  Node() = default;
  explicit Node(const fallow::Ref<Node>& first) : left(first) {}
  fallow::Field<Node> left;
  fallow::Field<Node> right;
  using Fields = fallow::FieldList<&Node::left, &Node::right>;
};

struct Leaf : Node {
  using Node::Node;
  int value = 0;
  using Fields = fallow::FieldList<&Node::left, &Node::right>;
};

struct alignas(16) Vector : fallow::Object {
  double items[4] = {};
  using Fields = fallow::FieldList<>;
};

struct Odd : fallow::Object {
  fallow::Object* link = nullptr;
  void trace(const fallow::SlotVisitor& visitor) { visitor.visit(&link); }
};

fallow::Ref<Node> use(fallow::Mutator& mutator) {
  fallow::Local<Node> root(mutator, fallow::make<Node>(mutator));
  fallow::Ref<Node> child = fallow::make<Node>(mutator);
  root->left = fallow::make<Node>(mutator, fallow::live(child), child);
  root->right = fallow::make<Leaf>(mutator, root);
  root->left = root->right;
  root->right = nullptr;
  fallow::Local<Vector> vector(mutator, fallow::make<Vector>(mutator));
  fallow::Local<Odd> odd(mutator, fallow::make<Odd>(mutator));
  fallow::Local<fallow::Array<Node>> array(mutator, fallow::make_array<Node>(mutator, 3));
  array->set(0, root);
  fallow::AllocationCursor cursor(mutator);
  return cursor.make<Node>();
}
