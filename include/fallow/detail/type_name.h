#pragma once

#include <string_view>

namespace fallow::detail {

/// The name of T as the compiler writes it, without run-time type information.
template <class T>
constexpr std::string_view type_name() {
  constexpr std::string_view signature = __PRETTY_FUNCTION__;
  constexpr std::size_t start = signature.find("T = ") + 4;
  constexpr std::size_t end = signature.find_first_of(";]", start);
  return signature.substr(start, end - start);
}

}  // namespace fallow::detail
