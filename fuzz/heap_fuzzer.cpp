// Fuzz target for the heap, built by Clang with -fsanitize=fuzzer,address. A fault ends the program
// with a message; libFuzzer then writes the bytes that led there.
#include <cstddef>
#include <cstdint>

#include "fuzz/heap_operations.h"
#include "platform/fatal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string fault = fallow::test::run_heap_operations({data, size});
  if (!fault.empty()) fallow::platform::fatal("%s", fault.c_str());
  return 0;
}
