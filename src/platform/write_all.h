// The loop around write(2) that everybody needs.
#pragma once

#include <string_view>

namespace fallow::platform {

// Writes all of `bytes`, however many calls that takes; waits up to a second for a full pipe.
// Returns 0, or the number of the error; an unknown part has been written then.
int write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace fallow::platform
