// Environment variables.
//
// Thread-safety: as the C library's getenv and unsetenv: safe among each other only while no
// thread changes the environment. Read them at start-up.
#pragma once

#include <optional>
#include <string>

namespace fallow::platform {

// The value of a variable; nothing when it is not set. A variable set to "" has the value "".
std::optional<std::string> environment(const char* name);

// Removes a variable, so that programs started from here do not inherit it.
void unset_environment(const char* name) noexcept;

}  // namespace fallow::platform
