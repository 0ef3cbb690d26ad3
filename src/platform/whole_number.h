// Whole numbers in text, as people and the kernel write them.
//
// Thread-safety: any thread. Does not allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fallow::platform {

// Decimal digits only; nothing for other text and for numbers that do not fit.
std::optional<uint64_t> whole_number(std::string_view text);

}  // namespace fallow::platform
