#pragma once

#include "fallow/profile.h"

namespace fallow::profile {

/// Throws OptionError that names the member, its value and what is permitted.
void check(const RecorderOptions& options);

}  // namespace fallow::profile
