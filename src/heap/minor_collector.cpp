#include "heap/minor_collector.h"

#include <algorithm>
#include <cstring>

#include "fallow/errors.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

namespace {

/// Slots of roots and arrays that wait on the stack at the same time.
constexpr std::size_t kSlice = 128;

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
  if ((header & ObjectAccess::kForwardedBit) != 0) [[unlikely]] {
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

Object* MinorCollector::copy_any(Object* object, const TypeDescriptor& type, Pending* top) {
  const std::size_t bytes = object_size(object, type);
  Object* const copy =
      copy_to_cell(object, bytes, size_class_of(bytes, type.alignment), result_.copied_bytes);
  auto push = [&top, this](Object** slot) { top = push_if_young(slot, *slot, top); };
  if (type.has_references) visit_references(copy, type, push);
  top_ = top;
  return copy;
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
  if (!ObjectAccess::descriptor(object)->has_references) return;
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
  while (!large_pending_.empty()) scan(large_pending_.pop());
}

void MinorCollector::reach_all() {
  scan_reached_large();
  while (large_lost_) {
    large_lost_ = false;
    large_.for_each([this](LargeHeader* header) {
      if (header->is_young() && header->reached) scan(header->object());
    });
    scan_reached_large();
  }
}

MinorCollector::Result MinorCollector::finish() {
  result_.large_bytes = large_.promote_or_free_young(old_.live_color());
  const Result result = result_;
  result_ = Result{};
  return result;
}

}  // namespace fallow::detail
