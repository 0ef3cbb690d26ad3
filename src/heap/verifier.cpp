#include "heap/verifier.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "heap/heap_core.h"

namespace fallow::detail {

namespace {

constexpr std::size_t kMostComplaints = 20;
/// Behind the header.
constexpr std::size_t kEphemeronKeyWord = 1;

class Verifier {
 public:
  explicit Verifier(HeapCore& core) : core_(core) {
    core.large_space().for_each([this](LargeHeader* header) { large_.insert(header->object()); });
    for (const MutatorState* const state : core.world().mutators()) note(state->remembered);
    core.with_orphans([this](RememberedSet& set, SnapshotLog&) { note(set); });
  }

  VerifyReport run() {
    visit_roots();
    do {
      while (!pending_.empty()) {
        Object* const object = pending_.back();
        pending_.pop_back();
        inspect(object);
      }
    } while (reach_values_of_ephemerons());
    check_weak_targets();
    if (old_bytes_ > core_.used_bytes()) {
      complain("the books", nullptr, "say that fewer bytes are used than are reachable");
    }
    return std::move(report_);
  }

 private:
  enum class Place { kNursery, kYoungLarge, kOldLarge, kOld };

  void note(const RememberedSet& set) {
    everything_ = everything_ || set.everything();
    for (const Slot* const slot : set.slots()) slots_.insert(slot);
    for (const CardEntry& entry : set.full_cards()) {
      const Object* const array = entry.array;
      slots_.insert(reinterpret_cast<const char*>(array) + ArrayBase::kItemsOffset +
                    entry.card * kCardItems * sizeof(Slot) + 1);
    }
  }

  void visit_roots() {
    const RootVisitor visitor(
        [](void* self, Object** slot) {
          static_cast<Verifier*>(self)->reach(*slot, "a root provider's slot", slot);
        },
        this);
    for (MutatorState* const state : core_.world().mutators()) {
      Object** const end = MutatorAccess::slot_top(*state->mutator);
      for (Object** slot = state->slots; slot != end; ++slot) reach(*slot, "a Local", slot);
      for (RootProvider* const provider : state->providers) provider->visit_roots(visitor);
    }
    core_.globals().for_each([this](Object** slot) {
      reach(*slot, "a Global", slot);
      check_remembered(*slot, slot, nullptr, 0);
    });
    core_.lives().for_each_waiting(
        [this](Object** slot) { reach(*slot, "a queue's entry", slot); });
  }

  /// Again and again over all of them, which is slow and needs no order.
  bool reach_values_of_ephemerons() {
    bool reached = false;
    for (std::size_t i = 0; i < ephemerons_.size(); ++i) {
      Object** const words = reinterpret_cast<Object**>(ephemerons_[i]);
      Object* const key = words[kEphemeronKeyWord];
      Object* const value = words[kEphemeronKeyWord + 1];
      if (key == nullptr || !seen_.contains(key)) continue;
      if ((ObjectAccess::header(key) & ObjectAccess::kEphemeronKeyBit) == 0) {
        complain("the key of an ephemeron", key, "does not say that it is one");
      }
      reached = reached || (value != nullptr && !seen_.contains(value));
      reach(value, "an ephemeron", words);
      if (place_of(ephemerons_[i]) == Place::kOld) {
        check_remembered(value, words + kEphemeronKeyWord + 1, ephemerons_[i], 0);
      }
      check_old_key(ephemerons_[i], key);
      ephemerons_[i--] = ephemerons_.back();
      ephemerons_.pop_back();
    }
    return reached;
  }

  void check_old_key(const Object* ephemeron, const Object* key) {
    const Place place = place_of(key);
    if (place_of(ephemeron) == Place::kOld &&
        (place == Place::kNursery || place == Place::kYoungLarge)) {
      complain("an old ephemeron", ephemeron, "has a young key");
    }
  }

  /// What a weak reference returns must be an object that could be reached.
  void check_weak_targets() {
    if (core_.full_cycle().state() == FullCycle::State::kFinalizing) return;
    for (Object* const weak : weak_) {
      Object* const target = *reinterpret_cast<Object**>(reinterpret_cast<char*>(weak) + 8);
      if (target == nullptr || seen_.contains(target)) continue;
      const char* const fault = fault_of(target);
      if (fault != nullptr) complain("a weak reference", weak, fault);
      const Place place = place_of(target);
      if (place_of(weak) == Place::kOld &&
          (place == Place::kNursery || place == Place::kYoungLarge)) {
        complain("an old weak reference", weak, "has a young target");
      }
    }
  }

  void reach(Object* object, const char* from, const void* where) {
    if (object == nullptr || seen_.contains(object)) return;
    const char* const fault = fault_of(object);
    if (fault != nullptr) {
      complain(from, where, fault);
      return;
    }
    seen_.insert(object);
    pending_.push_back(object);
  }

  /// Why `object` cannot be a reference to a live object; nullptr when it can.
  const char* fault_of(const Object* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    if (address % kObjectGranule != 0) return "holds an unaligned address";
    AddressSpace& space = core_.space();
    if (in_nursery(object)) {
      if (space.nursery_owner(object) != &core_) return "refers to the nursery of another heap";
    } else if (space.is_large(object)) {
      if (!large_.contains(object)) return "refers to no large object of this heap";
    } else if (space.is_chunk(object)) {
      if (const char* const fault = fault_in_chunk(object)) return fault;
    } else {
      return "refers outside the heap";
    }
    return fault_in_header(object);
  }

  const char* fault_in_chunk(const Object* object) {
    if (!core_.old_space().contains(Chunk::of(object)))
      return "refers to the old space of another heap";
    const Block* const block = block_of(object);
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    if (!is_used(block)) return "refers to a free block";
    if (address < block_start(block) || address >= cells_end(block)) return "refers behind a block";
    if ((address - block_start(block)) % block->cell_bytes != 0) return "refers into a cell";
    const std::uint8_t color = *mark_byte(object);
    if (color == kFreeCell) return "refers to a free cell";
    const bool marking = core_.full_cycle().state() == FullCycle::State::kMarking;
    if (!marking && color != core_.old_space().live_color()) return "refers to a dead object";
    return nullptr;
  }

  const char* fault_in_header(const Object* object) {
    const std::uintptr_t header = ObjectAccess::header(object);
    if ((header & ObjectAccess::kForwardedBit) != 0) return "refers to a forwarded object";
    if ((header & ObjectAccess::kEntryBit) != 0) return "refers to an object that is dead";
    if ((header & ~ObjectAccess::kStateMask) == 0) return "refers to an object without a type";
    const std::size_t room = room_of(object);
    const bool has_hash =
        (header & ObjectAccess::kHashedBit) != 0 && place_of(object) == Place::kOld;
    if (size_of(object) + (has_hash ? 8 : 0) > room)
      return "refers to an object that does not fit its cell";
    return nullptr;
  }

  std::size_t room_of(const Object* object) {
    switch (place_of(object)) {
      case Place::kNursery:
        return kMaxSmallBytes;
      case Place::kOld:
        return block_of(object)->cell_bytes;
      default:
        return LargeHeader::of(object)->span_bytes - sizeof(LargeHeader);
    }
  }

  Place place_of(const Object* object) {
    if (in_nursery(object)) return Place::kNursery;
    if (!core_.space().is_large(object)) return Place::kOld;
    return LargeHeader::of(object)->is_young() ? Place::kYoungLarge : Place::kOldLarge;
  }

  static std::uint64_t length_of(const Object* object, const TypeDescriptor& type) {
    std::uint64_t length = 0;
    std::memcpy(&length, reinterpret_cast<const char*>(object) + type.length_offset, 8);
    return length;
  }

  static std::size_t size_of(const Object* object) {
    const TypeDescriptor& type = *ObjectAccess::descriptor(object);
    std::size_t bytes = type.fixed_bytes;
    if (type.items != TypeDescriptor::Items::kNone) {
      const std::uint64_t length = length_of(object, type);
      bytes += length * type.item_bytes;
      if (type.items == TypeDescriptor::Items::kReferences && length > kCardItems) {
        bytes += (length + kCardItems - 1) / kCardItems;
      }
    }
    return std::max<std::size_t>((bytes + 7) / 8 * 8, kMinimumObjectBytes);
  }

  void inspect(Object* object) {
    const Place place = place_of(object);
    ++report_.objects;
    report_.bytes += size_of(object);
    if (place != Place::kNursery) {
      ++report_.old_objects;
      old_bytes_ +=
          place == Place::kOld ? block_of(object)->cell_bytes : LargeHeader::of(object)->span_bytes;
    }
    const bool old = place == Place::kOld || place == Place::kOldLarge;
    const TypeDescriptor& type = *ObjectAccess::descriptor(object);
    if (type.kind == TypeDescriptor::Kind::kWeak) weak_.push_back(object);
    if (type.kind == TypeDescriptor::Kind::kEphemeron) ephemerons_.push_back(object);
    for_each_slot(object, type, [&](Object** slot, std::size_t card) {
      Object* const value = *slot;
      reach(value, name_of(type), slot);
      if (old) check_remembered(value, slot, object, card);
    });
  }

  /// Calls visit(slot, number of its card + 1, or 0).
  template <class Visit>
  static void for_each_slot(Object* object, const TypeDescriptor& type, Visit visit) {
    char* const base = reinterpret_cast<char*>(object);
    const auto at = [base](std::size_t offset) {
      return reinterpret_cast<Object**>(base + offset);
    };
    if (type.trace != nullptr) {
      type.trace(object,
                 SlotVisitor(
                     [](void* context, Object** slot) { (*static_cast<Visit*>(context))(slot, 0); },
                     &visit));
    }
    for (std::uint32_t i = 0; i < type.reference_count; ++i)
      visit(at(type.reference_offsets[i]), 0);
    if (type.items == TypeDescriptor::Items::kNone ||
        type.items == TypeDescriptor::Items::kValues) {
      return;
    }
    const std::uint64_t length = length_of(object, type);
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::size_t item = type.fixed_bytes + i * type.item_bytes;
      if (type.items == TypeDescriptor::Items::kReferences) {
        visit(at(item), length > kCardItems ? i / kCardItems + 1 : 0);
        continue;
      }
      for (std::uint32_t k = 0; k < type.item_reference_count; ++k) {
        visit(at(item + type.item_reference_offsets[k]), 0);
      }
    }
  }

  void check_remembered(const Object* value, Object** slot, const Object* holder,
                        std::size_t card) {
    if (value == nullptr || everything_) return;
    if (!in_nursery(value) && !large_.contains(value)) return;
    const Place place = place_of(value);
    if (place != Place::kNursery && place != Place::kYoungLarge) return;
    if (slots_.contains(slot)) return;
    if (card != 0) {
      const char* const entry = reinterpret_cast<const char*>(holder) + ArrayBase::kItemsOffset +
                                (card - 1) * kCardItems * sizeof(Slot) + 1;
      if (slots_.contains(entry)) return;
    }
    complain("an old object", slot, "refers to a young one but is not remembered");
  }

  static const char* name_of(const TypeDescriptor& type) {
    return type.name.empty() ? "an object" : type.name.data();
  }

  void complain(const char* who, const void* where, const char* what) {
    if (report_.complaints.size() >= kMostComplaints) return;
    char text[256];
    std::snprintf(text, sizeof text, "%.100s at %p %s", who, where, what);
    report_.complaints.emplace_back(text);
  }

  HeapCore& core_;
  VerifyReport report_;
  std::unordered_set<const void*> large_;
  std::unordered_set<const void*> slots_;  ///< remembered; a card is its first slot's address + 1
  std::unordered_set<const void*> seen_;
  std::vector<Object*> pending_;
  std::vector<Object*> weak_;
  std::vector<Object*> ephemerons_;  ///< whose keys have not been seen
  std::size_t old_bytes_ = 0;
  bool everything_ = false;
};

}  // namespace

VerifyReport verify_heap(HeapCore& core) { return Verifier(core).run(); }

}  // namespace fallow::detail
