#include "platform/environment.h"

#include <cstdlib>

namespace fallow::platform {

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

void unset_environment(const char* name) noexcept { unsetenv(name); }

}  // namespace fallow::platform
