// Marks what finalizers keep, and finds the order in which they are due. The same search as in
// ordered_copy.cpp, in slices.
#include <algorithm>
#include <utility>

#include "heap/full_cycle.h"
#include "heap/object_layout.h"

namespace fallow::detail {

namespace {
constexpr std::size_t kItems = 256;
}  // namespace

void FullCycle::order_from(Object* object) noexcept {
  if (!is_live(object)) push_in_order(object);
}

bool FullCycle::order_some() noexcept {
  if (visits_.empty()) {
    // Without memory for the search the rest is marked out of order.
    return mark_some(1);
  }
  const OrderedVisit visit = visits_.pop();
  switch (visit.what) {
    case OrderedVisit::What::kEnd:
      put_in_front(reinterpret_cast<LifeEntry*>(visit.item));
      break;
    case OrderedVisit::What::kScan:
      scan_in_order(visit.object, visit.item);
      break;
    default:
      visit_in_order(visit.object);
  }
  return true;
}

LifeEntry* FullCycle::take_ordered() noexcept { return std::exchange(ordered_, nullptr); }

void FullCycle::put_in_front(LifeEntry* entry) noexcept {
  entry->header = reinterpret_cast<std::uintptr_t>(ordered_);
  ordered_ = entry;
}

void FullCycle::push_in_order(Object* object) noexcept {
  if (object == nullptr || is_live(object)) return;
  if (!visits_.push({OrderedVisit::What::kVisit, object, 0})) visit_in_order(object);
}

void FullCycle::visit_in_order(Object* object) noexcept {
  if (is_live(object)) return;
  if (space_.is_large(object)) {
    LargeHeader::of(object)->color = old_.live_color();
    marked_large_bytes_ += LargeHeader::of(object)->span_bytes;
    kept_bytes_ += LargeHeader::of(object)->span_bytes;
  } else {
    *mark_byte(object) = old_.live_color();
    marked_bytes_ += block_of(object)->cell_bytes;
    kept_bytes_ += block_of(object)->cell_bytes;
  }
  LifeEntry* const entry = restore_header(object);
  const auto item = reinterpret_cast<std::uintptr_t>(entry);
  if (entry != nullptr && !visits_.push({OrderedVisit::What::kEnd, nullptr, item})) {
    put_in_front(entry);
  }
  // Without memory: the ordinary stack, and without that a walk.
  if (!visits_.push({OrderedVisit::What::kScan, object, 0})) push(object, 0);
}

void FullCycle::scan_in_order(Object* object, std::size_t first) noexcept {
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  auto visitor = [this](Object** slot) { push_in_order(*slot); };
  if (type.items != TypeDescriptor::Items::kNone && type.has_references) {
    const std::size_t count = item_count(object, type);
    const std::size_t last = std::min(count, first + kItems);
    if (last != count && !visits_.push({OrderedVisit::What::kScan, object, last})) {
      push(object, last);
    }
    visit_item_references(object, type, first, last, visitor);
  }
  if (first != 0) return;
  if (type.has_references) visit_fixed_references(object, type, visitor);
  if (type.kind == TypeDescriptor::Kind::kEphemeron) {
    auto* const ephemeron = static_cast<EphemeronBase*>(object);
    if (settle(ephemeron)) push_in_order(EphemeronAccess::value(ephemeron));
  }
  if ((ObjectAccess::header(object) & ObjectAccess::kEphemeronKeyBit) == 0) return;
  for (EphemeronBase* each = ephemerons_.take(object); each != nullptr;) {
    EphemeronBase* const next = EphemeronAccess::link(each);
    push_in_order(EphemeronAccess::value(each));
    each = next;
  }
}

}  // namespace fallow::detail
