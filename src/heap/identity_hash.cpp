#include "heap/identity_hash.h"

#include <mutex>

#include "fallow/errors.h"
#include "fallow/identity_hash.h"
#include "heap/heap_core.h"

namespace fallow::detail {

std::uint64_t identity_hash(Object* object) {
  if (object == nullptr) return 0;
  const std::uintptr_t header = ObjectAccess::header(object);
  if (in_nursery(object)) {
    HeapCore& core = *AddressSpace::instance().nursery_owner(object);
    if ((header & ObjectAccess::kHashedBit) == 0) {
      core.allow_hashes();
      ObjectAccess::set_bits(object, ObjectAccess::kHashedBit);
    }
    return hash_of_young(object, core.epoch());
  }
  if ((header & ObjectAccess::kHashedBit) == 0) return hash_of_address(object);
  const std::size_t bytes = object_size(object, *ObjectAccess::descriptor(object));
  return *reinterpret_cast<std::uint64_t*>(word_at(object, bytes));
}

void HeapCore::allow_hashes() {
  if (hashes_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(nursery_.mutex());
  hashes_.store(true, std::memory_order_relaxed);
  const std::size_t outstanding = promotable(nursery_.taken_bytes());
  const std::size_t growth = old_.growth_for(outstanding);
  if (growth == 0 || (fits_hard_limit(growth) && old_.reserve_for(outstanding))) return;
  hashes_.store(false, std::memory_order_relaxed);
  OutOfMemory::Facts facts;
  facts.requested_bytes = growth;
  facts.used_bytes = used_bytes();
  facts.committed_bytes = committed_bytes();
  facts.hard_limit_bytes = options_.hard_limit_bytes;
  facts.operating_system_refused = fits_hard_limit(growth);
  throw OutOfMemory(facts);
}

}  // namespace fallow::detail
