#include "heap/full_cycle.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "heap/object_layout.h"

namespace fallow::detail {

namespace {

/// Items of an array that are scanned before the rest goes back on the stack.
constexpr std::size_t kSliceItems = 1024;

/// An ephemeron, or what may be the key of one.
bool is_ephemeral(const Object* object, const TypeDescriptor& type) noexcept {
  return type.kind == TypeDescriptor::Kind::kEphemeron ||
         (ObjectAccess::header(object) & ObjectAccess::kEphemeronKeyBit) != 0;
}

}  // namespace

FullCycle::FullCycle(AddressSpace& space, OldSpace& old, LargeSpace& large)
    : old_(old), large_(large), space_(space) {}

void FullCycle::begin() {
  while (sweep_some(std::numeric_limits<std::size_t>::max())) {
  }
  marked_bytes_ = 0;
  marked_large_bytes_ = 0;
  scanned_items_ = 0;
  ephemerons_seen_ = 0;
  kept_bytes_ = 0;
  old_.begin_marking();
  space_.marking_started();
  snapshot_ended_ = false;
  state_ = State::kMarking;
}

void FullCycle::shade(Object* object) { shade_from<Mutators::kStopped>(object); }

template <FullCycle::Mutators Are>
void FullCycle::shade_from(Object* object) {
  if (object == nullptr || in_nursery(object)) return;
  if constexpr (Are == Mutators::kRunning) {
    if (claim(object)) account_and_push(object);
    return;
  }
  if (space_.is_large(object)) {
    LargeHeader* const header = LargeHeader::of(object);
    if (header->is_young() || header->color == old_.live_color()) return;
    header->color = old_.live_color();
  } else {
    std::uint8_t* const mark = mark_byte(object);
    if (*mark == old_.live_color()) return;
    *mark = old_.live_color();
  }
  account_and_push(object);
}

void FullCycle::account_and_push(Object* object) {
  if (space_.is_large(object)) {
    marked_large_bytes_ += LargeHeader::of(object)->span_bytes;
  } else {
    // The header is read when the object is popped; fetch its line meanwhile.
    __builtin_prefetch(static_cast<const void*>(object));
    marked_bytes_ += block_of(object)->cell_bytes;
  }
  push(object, 0);
}

void FullCycle::scan_later(PushBuffer<Object*>& objects) noexcept {
  if (scan_later_.empty()) {
    scan_later_.swap(objects);
  } else if (!scan_later_.append(objects.begin(), objects.end())) {
    for (Object* const object : objects) account_and_push(object);
  }
  objects.clear();
}

void FullCycle::shade_later(Object* const* first, Object* const* last) noexcept {
  if (shade_later_.append(first, last)) return;
  for (; first != last; ++first) shade(*first);
}

bool FullCycle::claim(Object* object) noexcept {
  const std::uint8_t live = old_.live_color();
  std::uint8_t* mark = nullptr;
  if (space_.is_large(object)) {
    LargeHeader* const header = LargeHeader::of(object);
    if (header->is_young()) return false;
    mark = &header->color;
  } else {
    mark = mark_byte(object);
  }
  if (__atomic_load_n(mark, __ATOMIC_RELAXED) == live) return false;
  return __atomic_exchange_n(mark, live, __ATOMIC_RELAXED) != live;
}

void FullCycle::push(Object* object, std::size_t first) {
  if (!stack_.push({object, first})) stack_lost_ = true;
}

bool FullCycle::mark_some(std::size_t references) { return mark<Mutators::kStopped>(references); }

bool FullCycle::mark_beside(std::size_t references) { return mark<Mutators::kRunning>(references); }

template <FullCycle::Mutators Are>
bool FullCycle::mark(std::size_t references) {
  std::size_t done = 0;
  while (done < references) {
    if (!stack_.empty()) {
      done += scan<Are>(stack_.pop());
    } else if (!shade_later_.empty()) {
      ++done;
      shade_from<Are>(shade_later_.pop());
    } else if (!scan_later_.empty()) {
      ++done;
      account_and_push(scan_later_.pop());
    } else if (stack_lost_ && Are == Mutators::kStopped) {
      rescan();
    } else {
      return false;
    }
  }
  return true;
}

template <FullCycle::Mutators Are>
std::size_t FullCycle::scan(const Pending& pending) {
  Object* const object = pending.object;
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  auto visitor = [this](Object** slot) {
    // Pairs with the barrier's store: a new large object says that it is young.
    constexpr int kOrder = Are == Mutators::kRunning ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
    shade_from<Are>(__atomic_load_n(slot, kOrder));
  };
  if (pending.first == 0) {
    visit_fixed_references(object, type, visitor);
    if (is_ephemeral(object, type)) [[unlikely]]
      scan_ephemeral<Are>(object, type);
  }
  if (type.items == TypeDescriptor::Items::kNone) [[likely]]
    return 1 + type.reference_count;
  if (!type.has_references) return 1;
  const std::size_t count = item_count(object, type);
  const std::size_t last =
      count - pending.first > kSliceItems ? pending.first + kSliceItems : count;
  if (last != count) push(object, last);
  visit_item_references(object, type, pending.first, last, visitor);
  if (space_.is_large(object)) scanned_items_ += (last - pending.first) * type.item_bytes;
  return 1 + (last - pending.first);
}

template <FullCycle::Mutators Are>
void FullCycle::scan_ephemeral(Object* object, const TypeDescriptor& type) {
  if (type.kind == TypeDescriptor::Kind::kEphemeron) {
    auto* const ephemeron = static_cast<EphemeronBase*>(object);
    ++ephemerons_seen_;
    if (settle(ephemeron)) shade_value<Are>(ephemeron);
  }
  for (EphemeronBase* each = ephemerons_.take(object); each != nullptr;) {
    EphemeronBase* const next = EphemeronAccess::link(each);
    shade_value<Are>(each);
    each = next;
  }
}

template <FullCycle::Mutators Are>
void FullCycle::shade_value(EphemeronBase* ephemeron) {
  constexpr int kOrder = Are == Mutators::kRunning ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
  shade_from<Are>(__atomic_load_n(EphemeronAccess::value_slot(ephemeron), kOrder));
}

bool FullCycle::settle(EphemeronBase* ephemeron) noexcept {
  const Object* const key = EphemeronAccess::key(ephemeron);
  if (key == nullptr || is_live(key)) return true;
  ephemerons_.add(ephemeron, key);
  return false;
}

bool FullCycle::is_live(const Object* object) const noexcept {
  if (in_nursery(object)) return true;
  if (space_.is_large(object)) {
    const LargeHeader* const header = LargeHeader::of(object);
    return header->is_young() ||
           __atomic_load_n(&header->color, __ATOMIC_RELAXED) == old_.live_color();
  }
  return __atomic_load_n(mark_byte(object), __ATOMIC_RELAXED) == old_.live_color();
}

void FullCycle::rescan() {
  stack_lost_ = false;
  ephemerons_.forget_all();
  const auto rescan_object = [this](Object* object) {
    const TypeDescriptor& type = *ObjectAccess::descriptor(object);
    auto visitor = [this](Object** slot) { shade(*slot); };
    visit_references(object, type, visitor);
    if (is_ephemeral(object, type)) scan_ephemeral<Mutators::kStopped>(object, type);
    while (!stack_.empty()) scan<Mutators::kStopped>(stack_.pop());
  };
  old_.for_each_object([&](Object* object, MarkColor color) {
    if (color == old_.live_color()) rescan_object(object);
  });
  large_.for_each([&](LargeHeader* header) {
    if (!header->is_young() && header->color == old_.live_color()) rescan_object(header->object());
  });
}

void FullCycle::finish_marking() {
  stack_.clear();
  shade_later_.clear();
  scan_later_.clear();
  state_ = State::kFinalizing;
}

void FullCycle::end_snapshot() noexcept {
  if (!std::exchange(snapshot_ended_, true)) space_.marking_ended();
}

void FullCycle::begin_sweeping() {
  end_snapshot();
  visits_.clear();
  old_.begin_sweeping();
  large_.begin_sweeping();
  state_ = State::kSweeping;
}

bool FullCycle::sweep_some(std::size_t blocks) {
  if (state() != State::kSweeping) return false;
  const bool more_blocks = old_.sweep_some(blocks);
  const bool more_large = large_.sweep_some(blocks, old_.live_color());
  if (!more_blocks && !more_large) state_ = State::kIdle;
  return more_blocks || more_large;
}

}  // namespace fallow::detail
