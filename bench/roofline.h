#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::bench {

/// What a C programmer writes to allocate as fast as the machine can: free and top in memory, one
/// compare, start again at the base when the buffer is full. The buffer is as large as the default
/// nursery, with the same advice about huge pages, so that both touch the same memory in the same
/// way; nothing is collected and nothing is cleared.
class RooflineBuffer {
 public:
  RooflineBuffer();
  ~RooflineBuffer();
  RooflineBuffer(const RooflineBuffer&) = delete;
  RooflineBuffer& operator=(const RooflineBuffer&) = delete;

  struct Bump {
    char* free;
    char* top;
    char* base;
  };
  Bump& bump() { return bump_; }

 private:
  std::size_t bytes_;
  Bump bump_{};
};

/// Whether a loop reads free and top again for every object.
enum class Words {
  kInMemory,  ///< as any allocator must: other code allocates in between, other threads lower top
  kPlain  ///< the compiler keeps in registers what it can; gcc does so with top, clang with both
};

/// Subject of `alloc`; with Init each object's field is stored. Words::kInMemory is the roofline,
/// Words::kPlain is shown beside it because compilers disagree about it.
template <bool Init, Words Where>
class Roofline {
 public:
  void run(std::uint64_t n) { loop(buffer_.bump(), n); }

 private:
  static void loop(RooflineBuffer::Bump& bump, std::uint64_t n);
  RooflineBuffer buffer_;
};

}  // namespace fallow::bench
