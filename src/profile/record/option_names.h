#pragma once

#include <string_view>

#include "fallow/profile.h"

namespace fallow::profile {

/// As in the text of FALLOW_PROFILE and in the file's header.
constexpr std::string_view name_of(NativeStacks native) noexcept {
  switch (native) {
    case NativeStacks::kFramePointers:
      return "fp";
    case NativeStacks::kFast:
      return "fast";
    case NativeStacks::kCopy:
      return "copy";
    case NativeStacks::kOff:
      return "off";
  }
  return "off";
}

}  // namespace fallow::profile
