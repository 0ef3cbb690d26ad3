#include "profile/analysis/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace fallow::profile {

std::string demangle(const char* symbol) {
  // The demangler takes memory on the stack in proportion to the name.
  constexpr std::size_t kMaxLength = 32 << 10;
  if (std::strncmp(symbol, "_Z", 2) != 0 || std::strlen(symbol) > kMaxLength) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  if (status != 0 || name == nullptr) return symbol;
  std::string text = name.get();
  // The parts that a compiler makes of one function are one function.
  if (const auto part = text.find(" [clone "); part != std::string::npos) text.resize(part);
  return text;
}

}  // namespace fallow::profile
