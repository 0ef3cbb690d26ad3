// The kinds of managed objects in the model tests, and what the model knows of each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/heap/model/decisions.h"
#include "tests/heap/test_support.h"

namespace fallow::test {

enum class Kind : std::uint8_t {
  kNode,            ///< two Fields
  kAligned,         ///< 16-byte aligned, three Fields
  kTraced,          ///< custom trace function
  kArray,           ///< Array<Object>
  kBytes,           ///< ValueArray
  kString,          ///< String
  kRuntimeFixed,    ///< run-time type, references beyond the bitmap
  kRuntimeItems,    ///< run-time type with items of references
  kRuntimeRecords,  ///< run-time type with items of records
  kRuntimeValues,   ///< run-time type with items of values
  kCount
};

/// The model's view of one object. `owner` is the worker that may change it.
struct Shadow {
  Kind kind{};
  std::uint64_t id = 0;
  std::size_t length = 0;
  std::vector<Shadow*> references;
  int owner = 0;
  std::uint64_t visit = 0;          ///< number of the last walk that came by
  const Object* address = nullptr;  ///< where that walk found it
};

struct ModelNode : Object {
  explicit ModelNode(std::uint64_t object_id) : id(object_id) {}
  ModelNode(std::uint64_t object_id, const Ref<Object>& a, const Ref<Object>& b)
      : first(a), id(object_id), second(b) {}
  Field<Object> first;
  std::uint64_t id;
  Field<Object> second;
  using Fields = FieldList<&ModelNode::first, &ModelNode::second>;
};

struct alignas(16) ModelAligned : Object {
  explicit ModelAligned(std::uint64_t object_id) : id(object_id) {}
  std::uint64_t id;
  Field<Object> items[3];
  void trace(const SlotVisitor& visitor) {
    for (Field<Object>& item : items) visitor(item);
  }
};

struct ModelTraced : Object {
  explicit ModelTraced(std::uint64_t object_id) : id(object_id) {}
  void trace(const SlotVisitor& visitor) {
    visitor(last);
    visitor(first);
  }
  Field<Object> first;
  std::uint64_t id;
  std::uint64_t filler[20];
  Field<Object> last;
};

/// The run-time types; they outlive every heap.
struct RuntimeTypes {
  static constexpr std::size_t kFixedBytes = 8 * 90;
  static constexpr std::size_t kFixedOffsets[] = {16, 8 * 40, 8 * 70, 8 * 89};
  static constexpr std::size_t kItemsStart = 32;  ///< header, id, length, one reference
  static constexpr std::size_t kRecordBytes = 24;

  static const RuntimeTypes& instance() {
    static const RuntimeTypes* const types = new RuntimeTypes;
    return *types;
  }

  std::unique_ptr<const TypeBuilder::Type> fixed;
  std::unique_ptr<const TypeBuilder::Type> items;
  std::unique_ptr<const TypeBuilder::Type> records;
  std::unique_ptr<const TypeBuilder::Type> values;

 private:
  RuntimeTypes() {
    TypeBuilder builder("model fixed");
    builder.fixed_bytes(kFixedBytes);
    for (const std::size_t offset : kFixedOffsets) builder.reference_at(offset);
    fixed = builder.build();
    items = TypeBuilder("model items")
                .fixed_bytes(kItemsStart)
                .reference_at(24)
                .reference_items(16)
                .build();
    records = TypeBuilder("model records")
                  .fixed_bytes(kItemsStart)
                  .reference_at(24)
                  .record_items(kRecordBytes, 16, {8})
                  .build();
    values = TypeBuilder("model values").fixed_bytes(24).value_items(5, 16).build();
  }
};

/// Access to managed objects by the model's numbering of references.
class ModelObjects {
 public:
  static Kind random_kind(Decisions& decisions) {
    // Nodes most often; they are also what cursors make. Then arrays.
    const std::size_t choice = decisions.below(18);
    if (choice < static_cast<std::size_t>(Kind::kCount)) return static_cast<Kind>(choice);
    return choice < 14 ? Kind::kArray : Kind::kNode;
  }

  /// Lengths on both sides of every limit, rarely long ones.
  static std::size_t random_length(Kind kind, Decisions& decisions) {
    if (kind < Kind::kArray || kind == Kind::kRuntimeFixed) return 0;
    const bool bytes = kind == Kind::kBytes || kind == Kind::kString;
    switch (decisions.below(12)) {
      case 0:
        return 120 + decisions.below(20);
      case 1:
        return 1000 + decisions.below(60);
      case 2:
        return decisions.one_in(6) ? 3000 + decisions.below(bytes ? 100'000 : 6000) : 2;
      default:
        return decisions.below(bytes ? 300 : 30);
    }
  }

  static std::size_t reference_count(Kind kind, std::size_t length) {
    switch (kind) {
      case Kind::kNode:
      case Kind::kTraced:
        return 2;
      case Kind::kAligned:
        return 3;
      case Kind::kArray:
        return length;
      case Kind::kRuntimeFixed:
        return std::size(RuntimeTypes::kFixedOffsets);
      case Kind::kRuntimeItems:
      case Kind::kRuntimeRecords:
        return length + 1;
      default:
        return 0;
    }
  }

  /// Allocates an object like `shadow` with null references. May collect; throws OutOfMemory.
  static Ref<Object> create(Mutator& mutator, const Shadow& shadow);

  static Ref<Object> load(Object* object, const Shadow& shadow, std::size_t index) {
    if (shadow.kind == Kind::kArray) return static_cast<Array<Object>*>(object)->get(index);
    return field(object, shadow, index).get();
  }
  static void store(Object* object, const Shadow& shadow, std::size_t index,
                    const Ref<Object>& value) {
    if (shadow.kind == Kind::kArray) {
      static_cast<Array<Object>*>(object)->set(index, value);
    } else {
      field(object, shadow, index) = value;
    }
  }

  /// What of the object itself is not as the model says; empty if nothing.
  static std::string compare(const Object* object, const Shadow& shadow);

 private:
  static Field<Object>& field(Object* object, const Shadow& shadow, std::size_t index) {
    switch (shadow.kind) {
      case Kind::kNode: {
        auto* const node = static_cast<ModelNode*>(object);
        return index == 0 ? node->first : node->second;
      }
      case Kind::kAligned:
        return static_cast<ModelAligned*>(object)->items[index];
      case Kind::kTraced: {
        auto* const traced = static_cast<ModelTraced*>(object);
        return index == 0 ? traced->first : traced->last;
      }
      default:
        return *reinterpret_cast<Field<Object>*>(reinterpret_cast<std::uintptr_t>(object) +
                                                 runtime_offset(shadow, index));
    }
  }

  static std::size_t runtime_offset(const Shadow& shadow, std::size_t index) {
    if (shadow.kind == Kind::kRuntimeFixed) return RuntimeTypes::kFixedOffsets[index];
    if (index == 0) return 24;
    if (shadow.kind == Kind::kRuntimeItems) return RuntimeTypes::kItemsStart + 8 * (index - 1);
    return RuntimeTypes::kItemsStart + RuntimeTypes::kRecordBytes * (index - 1) + 8;
  }

  static std::uint64_t& word(const Object* object, std::size_t offset) {
    return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(object) + offset);
  }
  static unsigned char content(const Shadow& shadow, std::size_t index) {
    return static_cast<unsigned char>(scramble(shadow.id + index / 8) >> (index % 8 * 8));
  }
  /// The bytes of values in an object; none for objects without.
  static std::span<unsigned char> value_bytes(const Object* object, const Shadow& shadow);
  static const TypeDescriptor& descriptor(Kind kind);
};

}  // namespace fallow::test
