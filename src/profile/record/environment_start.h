#pragma once

namespace fallow::profile {

/// Records this process if FALLOW_PROFILE is set: once, from the first call on. What is wrong with
/// the variable or its file is told on standard error, and the program goes on unrecorded.
void start_from_environment() noexcept;

}  // namespace fallow::profile
