// Keeps what finalizers need of a nursery, and finds the order in which they are due.
#include <algorithm>

#include "heap/minor_collector.h"

namespace fallow::detail {

namespace {
/// Items of a large object that are looked at at a time.
constexpr std::size_t kItems = 1024;
}  // namespace

// A depth-first search that puts an entry in front when the visit of its object ends, which is
// after the visits of all that it reaches. Without memory for its stack the rest is copied out of
// order.
LifeEntry* MinorCollector::copy_in_order(const EntryChain& dead) noexcept {
  ordered_ = nullptr;
  for (LifeEntry* entry = dead.front(); entry != nullptr; entry = entry->next) {
    Object* root = entry->object;
    // Its header is restored when it is reached.
    if (!is_dead(root)) continue;
    push_in_order(&root, root);
    while (!visits_.empty()) visit_in_order(visits_.pop());
    copy_pending();
  }
  visits_.clear();
  complete();
  return ordered_;
}

void MinorCollector::put_in_front(LifeEntry* entry) noexcept {
  entry->header = reinterpret_cast<std::uintptr_t>(ordered_);
  ordered_ = entry;
}

void MinorCollector::push_in_order(Object** slot, Object* object) noexcept {
  if (!is_dead(object)) {
    *slot = current(object);
  } else if (!visits_.push({slot, object, 0})) {
    push_out_of_order(slot, object);
  }
}

void MinorCollector::visit_in_order(const Visit& visit) noexcept {
  if (visit.object == nullptr) {
    put_in_front(reinterpret_cast<LifeEntry*>(visit.item));
    return;
  }
  if (visit.slot == nullptr) {
    scan_in_order(visit.object, visit.item);
    return;
  }
  Object* const object = visit.object;
  if (!is_dead(object)) {
    *visit.slot = current(object);
    return;
  }
  LifeEntry* const entry = restore_header(object);
  if (entry != nullptr &&
      !visits_.push({nullptr, nullptr, reinterpret_cast<std::uintptr_t>(entry)}))
    put_in_front(entry);
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  Object* kept = object;
  if (in_nursery(object)) {
    kept = copy_alone(object, type);
  } else {
    LargeHeader::of(object)->reached = true;
  }
  *visit.slot = kept;
  if (entry != nullptr) entry->object = kept;
  if (type.kind == TypeDescriptor::Kind::kEphemeron) settle_in_order(copied_ephemerons_);
  if ((ObjectAccess::header(kept) & ObjectAccess::kEphemeronKeyBit) != 0) {
    for (EphemeronBase* each = ephemerons_.take(object); each != nullptr;
         each = EphemeronAccess::link(each)) {
      *EphemeronAccess::key_slot(each) = kept;
      push_value_in_order(each);
    }
  }
  if (type.has_references) scan_in_order(kept, 0);
}

void MinorCollector::settle_in_order(EphemeronBase* ephemeron) noexcept {
  copied_ephemerons_ = EphemeronAccess::link(ephemeron);
  Object** const key = EphemeronAccess::key_slot(ephemeron);
  if (*key == nullptr) return;
  if (is_dead(*key)) {
    ephemerons_.add(ephemeron, *key);
    return;
  }
  *key = current(*key);
  push_value_in_order(ephemeron);
}

void MinorCollector::push_value_in_order(EphemeronBase* ephemeron) noexcept {
  Object** const slot = EphemeronAccess::value_slot(ephemeron);
  push_in_order(slot, *slot);
}

void MinorCollector::scan_in_order(Object* object, std::size_t first) noexcept {
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  auto push = [this](Object** slot) { push_in_order(slot, *slot); };
  if (type.items != TypeDescriptor::Items::kNone) {
    const std::size_t count = item_count(object, type);
    const std::size_t last = std::min(count, first + kItems);
    if (last != count && !visits_.push({nullptr, object, last})) large_lost_ = true;
    visit_item_references(object, type, first, last, push);
  }
  if (first == 0) visit_fixed_references(object, type, push);
}

}  // namespace fallow::detail
