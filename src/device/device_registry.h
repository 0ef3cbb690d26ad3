#pragma once

#include <cstdint>

namespace fallow::device::detail {

class DeviceCore;

/// The devices of the process, so that a fork finds them whole. Returns a number that is never used
/// again.
std::uint32_t register_device(DeviceCore* core);
void unregister_device(DeviceCore* core) noexcept;

}  // namespace fallow::device::detail
