// Reading the small text files by which the kernel describes itself. Not meant for other users.
//
// Thread-safety: any thread. Errors: what cannot be read is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace fallow::platform {

// The first line, without blanks at its end; empty when there is none.
std::string first_line(const std::filesystem::path& path);

// Decimal digits only, no overflow.
std::optional<uint64_t> whole_number(std::string_view text);

}  // namespace fallow::platform
