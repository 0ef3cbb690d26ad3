#include <cstring>

#include "fallow/ref.h"
#include "heap/destruction_scope.h"
#include "heap/heap_core.h"
#include "heap/poison.h"
#include "platform/fatal.h"

namespace fallow::detail {

namespace {

const HeapCore* heap_of_checked(const Object* object) noexcept {
  if (!AddressSpace::exists()) return nullptr;
  const AddressSpace& space = AddressSpace::instance();
  if (in_nursery(object)) return space.nursery_owner(object);
  if (space.is_large(object)) return LargeHeader::of(object)->heap;
  return space.is_chunk(object) ? Chunk::of(object)->heap : nullptr;
}

}  // namespace

std::uint64_t collection_epoch(const Object* object) noexcept {
  refuse_in_destructor();
  if (object == nullptr) return 0;
  const HeapCore* const heap = heap_of_checked(object);
  return heap == nullptr ? 0 : heap->epoch();
}

void stale_reference(const Object* object, std::uint64_t created_at) noexcept {
  const HeapCore* const heap = heap_of_checked(object);
  const std::source_location site =
      heap == nullptr ? std::source_location{} : heap->last_collection_site();
  platform::fatal(
      "a Ref was used after a collection (made in epoch %llu, now %llu); the last collection was "
      "caused by the allocation at %s:%u in %s; keep the object in a Local or list the Ref in "
      "live(...) there",
      static_cast<unsigned long long>(created_at),
      static_cast<unsigned long long>(collection_epoch(object)), site.file_name(), site.line(),
      site.function_name());
}

void check_not_moved(const Object* object) noexcept {
  std::uintptr_t poison = 0;
  std::memset(&poison, kPoisonByte, sizeof poison);
  if (!in_nursery(object)) return;
  const std::uintptr_t header = ObjectAccess::header(object);
  if (header != poison && (header & ObjectAccess::kForwardedBit) == 0) return;
  stale_reference(object, 0);
}

}  // namespace fallow::detail
