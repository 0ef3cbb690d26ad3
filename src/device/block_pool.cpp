#include "device/block_pool.h"

#include <new>

namespace fallow::device::detail {

BlockPool::~BlockPool() {
  for (const auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

bool BlockPool::add_chunk() noexcept {
  // The last chunk would give numbers that no handle can hold.
  if (chunk_count_ + 1 == kChunks) return false;
  const std::uint64_t count = kFirstChunk << chunk_count_;
  Block* const start = new (std::nothrow) Block[count];
  if (start == nullptr) return false;
  for (std::uint64_t i = count; i-- > 0;) {
    start[i].slot = static_cast<std::uint32_t>(count - kFirstChunk + i);
    put_back(&start[i]);
  }
  chunks_[chunk_count_++].store(start, std::memory_order_release);
  return true;
}

}  // namespace fallow::device::detail
