#include "bench/roofline.h"

#include <new>

#include "bench/stopwatch.h"
#include "bench/types.h"
#include "platform/virtual_memory.h"

namespace fallow::bench {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct PlainCell {
  const void* header;
  std::int64_t value;
};

[[gnu::noinline, gnu::cold]] char* restart(RooflineBuffer::Bump& bump) {
  bump.free = bump.base;
  return bump.base;
}

}  // namespace

RooflineBuffer::RooflineBuffer() {
  const HeapOptions options = Heap().options();
  bytes_ = options.nursery_bytes;
  void* const memory = platform::reserve(bytes_, kHugePage);
  if (memory == nullptr) throw std::bad_alloc();
  platform::advise_huge_pages(memory, bytes_, options.huge_pages);
  if (!platform::commit(memory, bytes_)) throw std::bad_alloc();
  auto* const base = static_cast<char*>(memory);
  bump_ = {base, base + bytes_, base};
}

RooflineBuffer::~RooflineBuffer() { platform::release(bump_.base, bytes_); }

template <bool Init, Words Where>
[[gnu::noinline, gnu::aligned(64)]] void Roofline<Init, Where>::loop(RooflineBuffer::Bump& bump,
                                                                     std::uint64_t n) {
  PlainCell* current = nullptr;
  PlainCell* previous = nullptr;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    // No instruction: the words may have changed.
    if constexpr (Where == Words::kInMemory) asm volatile("" : "+m"(bump));
    char* start = bump.free;
    char* const next = start + sizeof(PlainCell);
    if (next > bump.top) [[unlikely]] {
      start = restart(bump);
      bump.free = start + sizeof(PlainCell);
    } else {
      bump.free = next;
    }
    current = reinterpret_cast<PlainCell*>(start);
    current->header = &descriptor_of<Cell>();
    if constexpr (Init) current->value = static_cast<std::int64_t>(i);
  }
  keep(current);
  keep(previous);
}

template class Roofline<false, Words::kInMemory>;
template class Roofline<true, Words::kInMemory>;
template class Roofline<false, Words::kPlain>;
template class Roofline<true, Words::kPlain>;

}  // namespace fallow::bench
