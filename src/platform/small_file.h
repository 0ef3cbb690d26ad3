// Reading the small text files by which the kernel describes itself. Not meant for other users.
//
// Thread-safety: any thread. Errors: what cannot be read is empty.
#pragma once

#include <filesystem>
#include <string>

namespace fallow::platform {

// The first line, without blanks at its end; empty when there is none.
std::string first_line(const std::filesystem::path& path);

}  // namespace fallow::platform
