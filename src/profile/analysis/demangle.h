#pragma once

#include <string>

namespace fallow::profile {

/// A symbol's name as the source has it; the name itself when it is not a mangled one of C++.
std::string demangle(const char* symbol);

}  // namespace fallow::profile
