#include "heap/minor_collector.h"

#include <cstring>

#include "fallow/errors.h"
#include "platform/virtual_memory.h"

namespace fallow::detail {

namespace {

/// Copies a whole number of words; small sizes without a call.
[[gnu::always_inline]] inline void copy_words(Object* to, const Object* from, std::size_t bytes) {
  auto* const target = reinterpret_cast<std::uint64_t*>(to);
  const auto* const source = reinterpret_cast<const std::uint64_t*>(from);
  if (bytes <= 64) {
    const std::size_t words = bytes / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < words; i += 2) {
      target[i] = source[i];
      if (i + 1 < words) target[i + 1] = source[i + 1];
    }
  } else {
    std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), bytes);
  }
}

}  // namespace

MinorCollector::MinorCollector(const AddressSpace& space, OldSpace& old, LargeSpace& large,
                               std::size_t nursery_bytes)
    : old_(old),
      large_(large),
      base_(g_barrier_range.base),
      nursery_span_(g_barrier_range.nursery_span),
      young_or_large_span_(space.young_or_large_span()),
      stack_bytes_(nursery_bytes / kMinimumObjectBytes * sizeof(Object*)) {
  const std::size_t page = platform::page_size();
  stack_bytes_ = (stack_bytes_ + page - 1) / page * page;
  stack_ = static_cast<Object**>(platform::reserve(stack_bytes_, 0));
  if (stack_ == nullptr || !platform::commit(stack_, stack_bytes_)) {
    if (stack_ != nullptr) platform::release(stack_, stack_bytes_);
    throw StartupError("fallow: the system refused memory for the collector's stack");
  }
  top_ = stack_;
}

MinorCollector::~MinorCollector() { platform::release(stack_, stack_bytes_); }

[[gnu::always_inline]] inline Object* MinorCollector::evacuate(Object* object) {
  const std::uintptr_t header = ObjectAccess::header(object);
  if ((header & ObjectAccess::kForwardedBit) != 0) {
    return reinterpret_cast<Object*>(header & ~ObjectAccess::kForwardedBit);
  }
  const TypeDescriptor& type = *ObjectAccess::descriptor(object);
  std::size_t bytes = type.fixed_bytes;
  std::uint8_t size_class = type.size_class;
  if (type.items != TypeDescriptor::Items::kNone) [[unlikely]] {
    bytes = object_size(object, type);
    size_class = size_class_of(bytes, type.alignment);
  }
  Object* const copy = old_.allocate(size_class);
  copy_words(copy, object, bytes);
  ObjectAccess::set_header(object,
                           reinterpret_cast<std::uintptr_t>(copy) | ObjectAccess::kForwardedBit);
  result_.copied_bytes += kCellBytes[size_class];
  if (type.has_references) *top_++ = copy;
  return copy;
}

[[gnu::always_inline]] inline void MinorCollector::forward(Object** slot) {
  Object* const value = *slot;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(value) - base_;
  if (offset < nursery_span_) {
    *slot = evacuate(value);
  } else if (offset < young_or_large_span_) [[unlikely]] {
    reach_large(value);
  }
}

void MinorCollector::visit(Object** slot) { forward(slot); }

void MinorCollector::reach_large(Object* object) {
  LargeHeader* const header = LargeHeader::of(object);
  if (!header->young || header->reached) return;
  header->reached = true;
  if (!ObjectAccess::descriptor(object)->has_references) return;
  if (!large_pending_.push(object)) large_lost_ = true;
}

inline void MinorCollector::scan(Object* object) {
  auto visitor = [this](Object** slot) { forward(slot); };
  visit_references(object, *ObjectAccess::descriptor(object), visitor);
}

void MinorCollector::drain() {
  while (true) {
    while (top_ != stack_) scan(*--top_);
    if (large_pending_.empty()) return;
    scan(large_pending_.pop());
  }
}

void MinorCollector::visit_slots(Object** begin, Object** end) {
  for (Object** slot = begin; slot != end; ++slot) {
    forward(slot);
    drain();
  }
}

void MinorCollector::visit_remembered(const RememberedSet& set) {
  for (Slot* const slot : set.slots()) {
    forward(reinterpret_cast<Object**>(slot));
    drain();
  }
  for (const CardEntry& entry : set.cards()) visit_card(entry);
  result_.remembered_slots += set.slots().size() + set.cards().size();
}

void MinorCollector::visit_card(const CardEntry& entry) {
  const std::size_t length = static_cast<ArrayBase*>(entry.array)->length();
  card_table(entry.array, length)[entry.card] = 0;
  const std::size_t first = entry.card * kCardItems;
  const std::size_t last = first + kCardItems < length ? first + kCardItems : length;
  Object** const items = word_at(entry.array, ArrayBase::kItemsOffset);
  for (std::size_t i = first; i < last; ++i) {
    forward(&items[i]);
    drain();
  }
}

void MinorCollector::visit_all_old_objects() {
  // Copies made on the way are visited a second time at most.
  old_.for_each_object([this](Object* object, MarkColor) { scan(object); });
  large_.for_each([this](LargeHeader* header) {
    if (!header->young) scan(header->object());
  });
  drain();
}

MinorCollector::Result MinorCollector::finish() {
  drain();
  while (large_lost_) {
    large_lost_ = false;
    large_.for_each([this](LargeHeader* header) {
      if (header->young && header->reached) scan(header->object());
    });
    drain();
  }
  result_.large_bytes = large_.promote_or_free_young(old_.live_color());
  const Result result = result_;
  result_ = Result{};
  return result;
}

}  // namespace fallow::detail
