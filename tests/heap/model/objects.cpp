#include "tests/heap/model/objects.h"

namespace fallow::test {

Ref<Object> ModelObjects::create(Mutator& mutator, const Shadow& shadow) {
  Ref<Object> object;
  switch (shadow.kind) {
    case Kind::kNode:
      return make<ModelNode>(mutator, shadow.id);
    case Kind::kAligned:
      return make<ModelAligned>(mutator, shadow.id);
    case Kind::kTraced: {
      const Ref<ModelTraced> traced = make<ModelTraced>(mutator, shadow.id);
      for (std::size_t i = 0; i < std::size(traced->filler); ++i) {
        traced->filler[i] = scramble(shadow.id + i);
      }
      return traced;
    }
    case Kind::kArray:
      return make_array<Object>(mutator, shadow.length);
    case Kind::kBytes:
      object = make_values<Bytes>(mutator, shadow.length);
      break;
    case Kind::kString:
      object = make_values<String>(mutator, shadow.length);
      break;
    default:
      object = allocate_object(mutator, descriptor(shadow.kind), shadow.length);
      word(object.get(), 8) = shadow.id;
  }
  const std::span<unsigned char> bytes = value_bytes(object.get(), shadow);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = content(shadow, i);
  return object;
}

const TypeDescriptor& ModelObjects::descriptor(Kind kind) {
  switch (kind) {
    case Kind::kNode:
      return descriptor_of<ModelNode>();
    case Kind::kAligned:
      return descriptor_of<ModelAligned>();
    case Kind::kTraced:
      return descriptor_of<ModelTraced>();
    case Kind::kArray:
      return descriptor_of<Array<Object>>();
    case Kind::kBytes:
      return descriptor_of<Bytes>();
    case Kind::kString:
      return descriptor_of<String>();
    case Kind::kRuntimeFixed:
      return RuntimeTypes::instance().fixed->descriptor();
    case Kind::kRuntimeItems:
      return RuntimeTypes::instance().items->descriptor();
    case Kind::kRuntimeRecords:
      return RuntimeTypes::instance().records->descriptor();
    default:
      return RuntimeTypes::instance().values->descriptor();
  }
}

std::span<unsigned char> ModelObjects::value_bytes(const Object* object, const Shadow& shadow) {
  auto* const start = reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(object));
  switch (shadow.kind) {
    case Kind::kBytes:
    case Kind::kString:
      return {start + ArrayBase::kItemsOffset, shadow.length};
    case Kind::kRuntimeValues:
      return {start + 24, 5 * shadow.length};
    default:
      return {};
  }
}

std::string ModelObjects::compare(const Object* object, const Shadow& shadow) {
  const std::string name = "object " + std::to_string(shadow.id) + " (kind " +
                           std::to_string(static_cast<int>(shadow.kind)) + ", length " +
                           std::to_string(shadow.length) + ")";
  if (detail::ObjectAccess::descriptor(object) != &descriptor(shadow.kind)) {
    return name + " has another type";
  }
  std::uint64_t id = shadow.id;
  std::uint64_t length = shadow.length;
  switch (shadow.kind) {
    case Kind::kNode:
      id = static_cast<const ModelNode*>(object)->id;
      break;
    case Kind::kAligned:
      id = static_cast<const ModelAligned*>(object)->id;
      if (reinterpret_cast<std::uintptr_t>(object) % 16 != 0) return name + " is not aligned";
      break;
    case Kind::kTraced: {
      const auto* const traced = static_cast<const ModelTraced*>(object);
      id = traced->id;
      for (std::size_t i = 0; i < std::size(traced->filler); ++i) {
        if (traced->filler[i] != scramble(shadow.id + i)) return name + " has a damaged filler";
      }
      break;
    }
    case Kind::kArray:
    case Kind::kBytes:
    case Kind::kString:
      length = word(object, ArrayBase::kLengthOffset);
      break;
    case Kind::kRuntimeFixed:
      id = word(object, 8);
      break;
    default:
      id = word(object, 8);
      length = word(object, 16);
  }
  if (id != shadow.id) return name + " has the id " + std::to_string(id);
  if (length != shadow.length) return name + " has the length " + std::to_string(length);
  const std::span<unsigned char> bytes = value_bytes(object, shadow);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != content(shadow, i)) return name + " has a wrong byte " + std::to_string(i);
  }
  return {};
}

}  // namespace fallow::test
