#pragma once

#include <cstdint>
#include <vector>

#include "fallow/profile.h"

namespace fallow::profile {

/// The payload of the header chunk: who is recorded, when, and how.
std::vector<std::uint8_t> header_payload(const RecorderOptions& options, std::size_t interval_bytes,
                                         std::uint64_t start_monotonic_ns);

}  // namespace fallow::profile
