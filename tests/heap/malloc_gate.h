// fork() beside threads that use memory, under AddressSanitizer.
#pragma once

namespace fallow::test {

/// A thread is in malloc or free, on behalf of operator new or delete.
///
/// AddressSanitizer's allocator before LLVM 17 and gcc 14 does nothing about fork: a child made
/// while another thread holds one of its locks waits for it forever. A fork in a test program waits
/// until no thread is inside, as it does within glibc's own malloc. Without AddressSanitizer this
/// is nothing.
class InMalloc {
 public:
  InMalloc() noexcept;
  ~InMalloc();
  InMalloc(const InMalloc&) = delete;
  InMalloc& operator=(const InMalloc&) = delete;
};

}  // namespace fallow::test
