// What a worker of the model does to the heap and, in the same breath, to the shadow objects.
#include <algorithm>
#include <thread>

#include "fallow/errors.h"
#include "tests/heap/model/model.h"

namespace fallow::test {

namespace {
constexpr std::size_t kLongestWay = 8;
constexpr int kTriesForAnArray = 6;

/// Keeps a root in the list of a worker for a scope, also when an allocation throws.
class ListedRoot {
 public:
  ListedRoot(std::vector<Root*>& roots, Root& root) : roots_(roots) { roots_.push_back(&root); }
  ~ListedRoot() { roots_.pop_back(); }
  ListedRoot(const ListedRoot&) = delete;
  ListedRoot& operator=(const ListedRoot&) = delete;

 private:
  std::vector<Root*>& roots_;
};

}  // namespace

Shadow& ModelWorker::new_shadow(Kind kind, std::size_t length) {
  Shadow& shadow = shadows_.emplace_back();
  shadow.kind = kind;
  shadow.id = world_.next_id.fetch_add(1);
  shadow.length = length;
  shadow.references.resize(ModelObjects::reference_count(kind, length));
  shadow.owner = number_;
  return shadow;
}

Root& ModelWorker::random_root(bool locked) {
  const std::size_t own = roots_.size() + globals_.size();
  const std::size_t index = decisions_.below(own + (locked ? world_.roots.size() : 0));
  if (index < roots_.size()) return *roots_[index];
  if (index < own) return *globals_[index - roots_.size()];
  return *world_.roots[index - own];
}

ModelWorker::Pick ModelWorker::pick(bool locked) {
  const Root& root = random_root(locked);
  Pick at{root.shadow, root.get()};
  for (std::size_t way = decisions_.below(kLongestWay); at.shadow != nullptr && way > 0; --way) {
    if (!may_change(*at.shadow, locked) || at.shadow->references.empty()) break;
    const std::size_t index = decisions_.below(at.shadow->references.size());
    Shadow* const next = at.shadow->references[index];
    if (next == nullptr) continue;
    at.object = ModelObjects::load(at.object.get(), *at.shadow, index);
    at.shadow = next;
    if (!at.object) {
      world_.fail("the reference to object " + std::to_string(next->id) + " is null");
      return {};
    }
  }
  return at;
}

ModelWorker::Pick ModelWorker::pick_array(bool locked, bool to_change) {
  for (int i = 0; i < kTriesForAnArray; ++i) {
    const Pick found = pick(locked);
    if (found.shadow == nullptr || found.shadow->kind != Kind::kArray) continue;
    // Items of shared arrays may be read under the lock only.
    if (may_change(*found.shadow, locked) || (!to_change && locked)) return found;
  }
  return {};
}

void ModelWorker::publish(Shadow* shadow) {
  if (shadow == nullptr) return;
  to_publish_.push_back(shadow);
  while (!to_publish_.empty()) {
    Shadow* const next = to_publish_.back();
    to_publish_.pop_back();
    if (next->owner == kShared) continue;
    next->owner = kShared;
    for (Shadow* const reference : next->references) {
      if (reference != nullptr && reference->owner != kShared) to_publish_.push_back(reference);
    }
  }
}

void ModelWorker::allocate(Mutator& mutator, bool locked) {
  const Kind kind = ModelObjects::random_kind(decisions_);
  Shadow& shadow = new_shadow(kind, ModelObjects::random_length(kind, decisions_));
  Ref<Object> object;
  if (kind == Kind::kNode && decisions_.one_in(2)) {
    // References go through the allocation into the constructor.
    Pick first = pick(locked);
    Pick second = pick(locked);
    object = make<ModelNode>(mutator, live(first.object, second.object), shadow.id, first.object,
                             second.object);
    shadow.references = {first.shadow, second.shadow};
  } else {
    object = ModelObjects::create(mutator, shadow);
  }
  Root& root = random_root(locked);
  if (locked && std::any_of(world_.roots.begin(), world_.roots.end(),
                            [&](const auto& shared) { return shared.get() == &root; })) {
    publish(&shadow);
  }
  root.set(object, &shadow);
  for (std::size_t i = decisions_.below(3); i > 0 && !shadow.references.empty(); --i) {
    const Pick value = pick(locked);
    const std::size_t index = decisions_.below(shadow.references.size());
    if (shadow.owner == kShared) publish(value.shadow);
    ModelObjects::store(object.get(), shadow, index, value.object);
    shadow.references[index] = value.shadow;
  }
}

void ModelWorker::store(bool locked) {
  const Pick target = pick(locked);
  if (target.shadow == nullptr || !may_change(*target.shadow, locked)) return;
  const std::size_t count = target.shadow->references.size();
  if (count == 0) return;
  const std::size_t index = decisions_.below(count);
  Pick value;
  if (!decisions_.one_in(4)) value = pick(locked);
  if (target.shadow->owner == kShared) publish(value.shadow);
  ModelObjects::store(target.object.get(), *target.shadow, index, value.object);
  target.shadow->references[index] = value.shadow;
}

void ModelWorker::assign_root(bool locked) {
  const Pick value = pick(locked);
  Root& root = random_root(locked);
  const bool shared = locked && std::any_of(world_.roots.begin(), world_.roots.end(),
                                            [&](const auto& own) { return own.get() == &root; });
  if (shared) publish(value.shadow);
  root.set(value.object, value.shadow);
}

void ModelWorker::change_array(bool locked) {
  const Pick target = pick_array(locked, true);
  if (target.shadow == nullptr || target.shadow->length == 0) return;
  std::vector<Shadow*>& items = target.shadow->references;
  auto* const array = static_cast<Array<Object>*>(target.object.get());
  const std::size_t to = decisions_.below(items.size());
  if (decisions_.one_in(3)) {
    const Pick value = decisions_.one_in(3) ? Pick{} : pick(locked);
    if (target.shadow->owner == kShared) publish(value.shadow);
    const std::size_t count = decisions_.below(items.size() - to + 1);
    array->fill(to, count, value.object);
    std::fill_n(items.begin() + static_cast<std::ptrdiff_t>(to), count, value.shadow);
    return;
  }
  const Pick source = decisions_.one_in(3) ? target : pick_array(locked, false);
  if (source.shadow == nullptr || source.shadow->length == 0) return;
  const std::size_t from = decisions_.below(source.shadow->length);
  const std::size_t room = std::min(items.size() - to, source.shadow->length - from);
  const std::size_t count = decisions_.below(room + 1);
  const auto begin = source.shadow->references.begin() + static_cast<std::ptrdiff_t>(from);
  const std::vector<Shadow*> copied(begin, begin + static_cast<std::ptrdiff_t>(count));
  if (target.shadow->owner == kShared) {
    for (Shadow* const shadow : copied) publish(shadow);
  }
  array->copy_from(to, Ref<Array<Object>>(static_cast<Array<Object>*>(source.object.get())), from,
                   count);
  std::copy(copied.begin(), copied.end(), items.begin() + static_cast<std::ptrdiff_t>(to));
}

void ModelWorker::make_chain(Mutator& mutator, int depth) {
  LocalRoot chain(mutator);
  const ListedRoot listed(roots_, chain);
  AllocationCursor cursor(mutator);
  for (std::size_t i = decisions_.below(200); i > 0; --i) {
    Pick second;
    if (decisions_.one_in(4)) second = pick(false);
    Shadow& shadow = new_shadow(Kind::kNode, 0);
    Ref<Object> head = chain.get();
    shadow.references = {chain.shadow, second.shadow};
    const Ref<ModelNode> node =
        cursor.make<ModelNode>(live(head, second.object), shadow.id, head, second.object);
    chain.set(node, &shadow);
    // Anything may happen while the cursor is open.
    if (decisions_.one_in(12)) step(mutator, depth + 1);
  }
  random_root(false).set(chain.get(), chain.shadow);
}

void ModelWorker::run_helper(Mutator& mutator) {
  const std::size_t length = 50 + decisions_.below(300);
  const bool collects = decisions_.one_in(2);
  const Parked parked(mutator);
  std::thread helper([&] {
    try {
      Mutator own(world_.heap, "helper");
      const Local<Node> list(own, make_list(own, length));
      if (collects) world_.heap.collect_minor();
      if (check_list(list) != length) world_.fail("the list of a helper thread is damaged");
    } catch (const Error&) {
      world_.out_of_memory.fetch_add(1);
    }
  });
  helper.join();
}

void ModelWorker::clear_some_roots() {
  for (Root* const root : roots_) {
    if (decisions_.one_in(2)) root->clear();
  }
  for (const auto& root : globals_) {
    if (decisions_.one_in(2)) root->clear();
  }
}

}  // namespace fallow::test
