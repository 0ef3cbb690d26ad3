#include "heap/dead_bytes.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "heap/destruction_scope.h"

namespace fallow::detail {

struct alignas(16) DeadBytes::Copy {
  Copy* next;
  const TypeDescriptor* type;

  Object* object() noexcept { return reinterpret_cast<Object*>(this + 1); }
};

void run_destructor(const TypeDescriptor& type, Object* object) noexcept {
  const DestructionScope scope;
  type.destroy(object);
}

bool DeadBytes::add(const Object* object, std::size_t bytes, const TypeDescriptor& type) noexcept {
  void* const memory = std::malloc(sizeof(Copy) + bytes);
  if (memory == nullptr) return false;
  auto* const copy = ::new (memory) Copy{nullptr, &type};
  std::memcpy(static_cast<void*>(copy->object()), static_cast<const void*>(object), bytes);
  copy->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(copy->next, copy, std::memory_order_release)) {
  }
  return true;
}

std::size_t DeadBytes::destroy_all() noexcept {
  std::size_t count = 0;
  for (Copy* copy = first_.exchange(nullptr, std::memory_order_acquire); copy != nullptr; ++count) {
    Copy* const next = copy->next;
    run_destructor(*copy->type, copy->object());
    std::free(copy);
    copy = next;
  }
  return count;
}

}  // namespace fallow::detail
