#include "heap/minor_collector.h"

#include <algorithm>
#include <cstring>

#include "fallow/errors.h"
#include "heap/identity_hash.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

namespace {

/// Slots of roots and arrays that wait on the stack at the same time.
constexpr std::size_t kSlice = 128;

/// The cells for objects of `bytes`, with or without a hash behind them.
std::uint8_t class_for(std::size_t bytes, std::size_t alignment, bool hashed) noexcept {
  if (!hashed) return size_class_of(bytes, alignment);
  const std::size_t room = bytes + sizeof(std::uint64_t);
  return room > kMaxSmallBytes ? kOverlongClass : size_class_of(room, alignment);
}

using Pair [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(8)]] = std::uint64_t;

/// Copies 16 bytes or more, a multiple of 8; the usual sizes without a loop, as stretches that
/// overlap.
[[gnu::always_inline]] inline void copy_object(Object* to, const Object* from, std::size_t bytes) {
  auto* const target = reinterpret_cast<char*>(to);
  const auto* const source = reinterpret_cast<const char*>(from);
  const auto copy_pair = [=](std::size_t offset) {
    *reinterpret_cast<Pair*>(target + offset) = *reinterpret_cast<const Pair*>(source + offset);
  };
  if (bytes > 64) [[unlikely]] {
    std::memcpy(target, source, bytes);
    return;
  }
  copy_pair(0);
  if (bytes > 32) {
    copy_pair(16);
    copy_pair(bytes - 32);
  }
  copy_pair(bytes - 16);
}

}  // namespace

MinorCollector::MinorCollector(const AddressSpace& space, OldSpace& old, LargeSpace& large,
                               std::size_t nursery_bytes)
    : old_(old),
      large_(large),
      base_(g_barrier_range.base),
      nursery_span_(g_barrier_range.nursery_span),
      large_span_(space.young_or_large_span() - nursery_span_),
      stack_bytes_((nursery_bytes / sizeof(Object*) + kSlice) * sizeof(Pending)) {
  const std::size_t page = platform::page_size();
  stack_bytes_ = (stack_bytes_ + page - 1) / page * page;
  stack_ = static_cast<Pending*>(platform::reserve(stack_bytes_, 0));
  if (stack_ == nullptr || !platform::commit(stack_, stack_bytes_)) {
    if (stack_ != nullptr) platform::release(stack_, stack_bytes_);
    throw StartupError("fallow: the system refused memory for the collector's stack");
  }
  top_ = stack_;
}

MinorCollector::~MinorCollector() { platform::release(stack_, stack_bytes_); }

[[gnu::always_inline]] inline Object* MinorCollector::copy_to_cell(Object* object,
                                                                   std::size_t bytes,
                                                                   std::uint8_t size_class,
                                                                   std::size_t& copied) {
  Object* const copy = old_.allocate(size_class, copied);
  copy_object(copy, object, bytes);
  ObjectAccess::set_header(object,
                           reinterpret_cast<std::uintptr_t>(copy) | ObjectAccess::kForwardedBit);
  return copy;
}

[[gnu::always_inline]] inline MinorCollector::Pending* MinorCollector::push_if_young(Object** slot,
                                                                                     Object* object,
                                                                                     Pending* top) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - base_;
  // A branch, which the processor predicts: with a conditional top, each pop would wait for the
  // compare before it.
  if (offset < nursery_span_) {
    *top++ = {slot, object};
  } else if (offset - nursery_span_ < large_span_) [[unlikely]] {
    reach_large(object);
  }
  return top;
}

[[gnu::always_inline]] inline MinorCollector::Pending* MinorCollector::forward(
    const Pending& pending, Pending* top, std::size_t& copied) {
  Object** const slot = pending.slot;
  Object* const object = pending.object;
  const std::uintptr_t header = ObjectAccess::header(object);
  if ((header & ObjectAccess::kStateMask) != 0) [[unlikely]] {
    if ((header & ObjectAccess::kForwardedBit) == 0) {
      LifeEntry* const entry = restore_header(object);
      *slot = copy_any(object, *ObjectAccess::descriptor(object), top);
      if (entry != nullptr) {
        entry->object = *slot;
        put_in_front(entry);
      }
      return top_;
    }
    *slot = reinterpret_cast<Object*>(header & ~ObjectAccess::kForwardedBit);
    return top;
  }
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  if (type.size_class == kNoSizeClass || !type.bitmap_is_complete) [[unlikely]] {
    *slot = copy_any(object, type, top);
    return top_;
  }
  Object* const copy = copy_to_cell(object, type.fixed_bytes, type.size_class, copied);
  *slot = copy;
  auto* const slots = reinterpret_cast<Object**>(copy);
  // Read where they were, since the stores to the copy are still on their way.
  auto* const values = reinterpret_cast<Object* const*>(object);
  for (std::uint64_t bits = type.reference_bitmap; bits != 0; bits &= bits - 1) {
    const auto word = static_cast<unsigned>(__builtin_ctzll(bits));
    top = push_if_young(&slots[word], values[word], top);
  }
  return top;
}

Object* MinorCollector::copy_alone(Object* object, const TypeDescriptor& type) {
  const std::size_t bytes = object_size(object, type);
  const bool hashed = (ObjectAccess::header(object) & ObjectAccess::kHashedBit) != 0;
  Object* const copy =
      copy_to_cell(object, bytes, class_for(bytes, type.alignment, hashed), result_.copied_bytes);
  if (hashed) {
    *reinterpret_cast<std::uint64_t*>(word_at(copy, bytes)) = hash_of_young(object, epoch_);
  }
  if (type.kind == TypeDescriptor::Kind::kEphemeron) {
    auto* const ephemeron = static_cast<EphemeronBase*>(copy);
    EphemeronAccess::link(ephemeron) = copied_ephemerons_;
    copied_ephemerons_ = ephemeron;
  }
  return copy;
}

Object* MinorCollector::copy_any(Object* object, const TypeDescriptor& type, Pending* top) {
  const bool is_key = (ObjectAccess::header(object) & ObjectAccess::kEphemeronKeyBit) != 0;
  Object* const copy = copy_alone(object, type);
  auto push = [&top, this](Object** slot) { top = push_if_young(slot, *slot, top); };
  if (type.has_references) visit_references(copy, type, push);
  top_ = is_key ? push_values_of(object, copy, top) : top;
  return copy;
}

MinorCollector::Pending* MinorCollector::push_values_of(const Object* waited_for, Object* key,
                                                        Pending* top) {
  for (EphemeronBase* each = ephemerons_.take(waited_for); each != nullptr;
       each = EphemeronAccess::link(each)) {
    *EphemeronAccess::key_slot(each) = key;
    Object** const slot = EphemeronAccess::value_slot(each);
    top = push_if_young(slot, *slot, top);
  }
  return top;
}

void MinorCollector::settle_copied_ephemerons() {
  while (copied_ephemerons_ != nullptr) {
    EphemeronBase* const ephemeron = copied_ephemerons_;
    copied_ephemerons_ = EphemeronAccess::link(ephemeron);
    Object** const key = EphemeronAccess::key_slot(ephemeron);
    if (*key == nullptr) continue;
    if (is_dead(*key)) {
      ephemerons_.add(ephemeron, *key);
      continue;
    }
    *key = current(*key);
    visit(EphemeronAccess::value_slot(ephemeron));
  }
}

void MinorCollector::begin(std::uint64_t epoch, std::size_t new_ephemerons) noexcept {
  epoch_ = epoch;
  ephemerons_.expect(new_ephemerons);
}

void MinorCollector::copy_pending() {
  // Strictly the youngest slot first: the objects behind the references of an object were mostly
  // allocated in a row, and the processor fetches such a row ahead better than prefetches do
  // (docs/design/heap.md, copy order).
  Pending* top = top_;
  std::size_t copied = 0;
  while (top != stack_) {
    const Pending pending = *--top;
    top = forward(pending, top, copied);
  }
  top_ = top;
  result_.copied_bytes += copied;
}

void MinorCollector::push_out_of_order(Object** slot, Object* object) noexcept {
  top_ = push_if_young(slot, object, top_);
}

void MinorCollector::visit(Object** slot) {
  top_ = push_if_young(slot, *slot, top_);
  copy_pending();
}

template <class Iterator, class SlotAt>
void MinorCollector::visit_in_slices(Iterator begin, Iterator end, SlotAt slot_at) {
  for (Iterator first = begin; first != end;) {
    const Iterator last = first + std::min<std::size_t>(end - first, kSlice);
    Pending* top = top_;
    for (; first != last; ++first) {
      Object** const slot = slot_at(first);
      top = push_if_young(slot, *slot, top);
    }
    top_ = top;
    copy_pending();
  }
}

void MinorCollector::visit_slots(Object** begin, Object** end) {
  visit_in_slices(begin, end, [](Object** slot) { return slot; });
}

void MinorCollector::visit_remembered(const RememberedSet& set) {
  const PushBuffer<Slot*>& slots = set.slots();
  visit_in_slices(slots.begin(), slots.end(),
                  [](Slot* const* entry) { return reinterpret_cast<Object**>(*entry); });
  for (const CardEntry& entry : set.counting_cards()) reset_count(entry);
  for (const CardEntry& entry : set.full_cards()) visit_card(entry);
  result_.remembered_slots += slots.size() + set.full_cards().size();
}

void MinorCollector::reset_count(const CardEntry& entry) noexcept {
  card_counts(entry.array, static_cast<ArrayBase*>(entry.array)->length())[entry.card] = 0;
}

void MinorCollector::visit_card(const CardEntry& entry) {
  const std::size_t length = static_cast<ArrayBase*>(entry.array)->length();
  const std::size_t first = entry.card * kCardItems;
  const std::size_t last = first + kCardItems < length ? first + kCardItems : length;
  Object** const items = word_at(entry.array, ArrayBase::kItemsOffset);
  visit_slots(items + first, items + last);
}

void MinorCollector::scan(Object* object) {
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  auto visitor = [this](Object** slot) { visit(slot); };
  visit_fixed_references(object, type, visitor);
  if (type.items == TypeDescriptor::Items::kReferences) {
    Object** const items = word_at(object, type.fixed_bytes);
    visit_slots(items, items + item_count(object, type));
  } else if (type.items != TypeDescriptor::Items::kNone) {
    visit_item_references(object, type, 0, item_count(object, type), visitor);
  }
}

void MinorCollector::reach_large(Object* object) {
  LargeHeader* const header = LargeHeader::of(object);
  if (!header->is_young() || header->reached) return;
  header->reached = true;
  LifeEntry* const entry = restore_header(object);
  if (entry != nullptr) put_in_front(entry);
  const bool is_key = (ObjectAccess::header(object) & ObjectAccess::kEphemeronKeyBit) != 0;
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  if (!type.has_references && !is_key) return;
  if (!large_pending_.push(object)) large_lost_ = true;
}

void MinorCollector::visit_all_old_objects() {
  // Copies made on the way are visited a second time at most.
  old_.for_each_object([this](Object* object, MarkColor) { scan(object); });
  large_.for_each([this](LargeHeader* header) {
    if (!header->is_young()) scan(header->object());
  });
}

void MinorCollector::scan_reached_large() {
  while (!large_pending_.empty()) {
    Object* const object = large_pending_.pop();
    scan(object);
    if ((ObjectAccess::header(object) & ObjectAccess::kEphemeronKeyBit) == 0) continue;
    top_ = push_values_of(object, object, top_);
    copy_pending();
  }
}

void MinorCollector::complete() {
  do {
    settle_copied_ephemerons();
    scan_reached_large();
    if (large_lost_) {
      large_lost_ = false;
      large_.for_each([this](LargeHeader* header) {
        if (!header->is_young() || !header->reached) return;
        if (!large_pending_.push(header->object())) scan(header->object());
      });
    }
  } while (copied_ephemerons_ != nullptr || large_lost_ || !large_pending_.empty());
}

MinorCollector::Result MinorCollector::finish() {
  complete();
  result_.large_bytes = large_.promote_or_free_young(old_.live_color());
  const Result result = result_;
  result_ = Result{};
  return result;
}

}  // namespace fallow::detail
