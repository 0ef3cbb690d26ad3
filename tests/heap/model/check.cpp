// Comparing the heap with the model.
#include "tests/heap/model/model.h"

namespace fallow::test {

namespace {
/// More live objects than this make the checks slow: some roots are cleared then.
constexpr std::size_t kManyObjects = 4000;
}  // namespace

/// Compares an object with its shadow when it is met for the first time; false after a fault.
bool ModelWorker::visit(Object* object, Shadow* shadow) {
  if ((object == nullptr) != (shadow == nullptr)) {
    world_.fail(shadow == nullptr
                    ? std::string("a reference should be null")
                    : "a reference to object " + std::to_string(shadow->id) + " is null");
    return false;
  }
  if (shadow == nullptr) return true;
  if (shadow->visit == world_.walks) {
    if (shadow->address == object) return true;
    world_.fail("two references to object " + std::to_string(shadow->id) + " differ");
    return false;
  }
  shadow->visit = world_.walks;
  shadow->address = object;
  const std::string difference = ModelObjects::compare(object, *shadow);
  if (!difference.empty()) {
    world_.fail(difference);
    return false;
  }
  pending_.push_back({shadow, Ref<Object>(object)});
  return true;
}

/// The number of objects that this worker reaches. The lock is held, and nothing here collects.
std::size_t ModelWorker::walk() {
  ++world_.walks;
  pending_.clear();
  bool sound = true;
  for (Root* const root : roots_) sound = sound && visit(root->get().get(), root->shadow);
  for (const auto& root : globals_) sound = sound && visit(root->get().get(), root->shadow);
  for (const auto& root : world_.roots) sound = sound && visit(root->get().get(), root->shadow);
  std::size_t count = 0;
  while (sound && !pending_.empty()) {
    const Pick at = pending_.back();
    pending_.pop_back();
    ++count;
    const std::vector<Shadow*>& references = at.shadow->references;
    for (std::size_t i = 0; sound && i < references.size(); ++i) {
      const Ref<Object> found = ModelObjects::load(at.object.get(), *at.shadow, i);
      sound = visit(found.get(), references[i]);
    }
  }
  return count;
}

void ModelWorker::check_everything(Mutator& mutator) {
  const std::size_t count = walk();
  if (world_.failed()) return;
  const VerifyReport report = world_.heap.verify();
  if (!report.complaints.empty()) {
    world_.fail("the verifier complains: " + complaints(report));
    return;
  }
  if (alone_ ? report.objects != count : report.objects < count) {
    world_.fail("the model reaches " + std::to_string(count) + " objects, the verifier " +
                std::to_string(report.objects));
    return;
  }
  if (count <= kManyObjects) return;
  clear_some_roots();
  for (const auto& root : world_.roots) root->clear();
  // What was live until now goes away at some moment in the middle of later steps.
  mutator.poll();
}

}  // namespace fallow::test
