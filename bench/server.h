#pragma once

#include <vector>

#include "fallow/options.h"

namespace fallow::bench {

/// A way to live with full collections while events come in.
struct ServerMode {
  const char* name;
  const char* meaning;  ///< for the legend
  void (*configure)(HeapOptions& options) = nullptr;
  bool tiny_heap = false;        ///< the same events on a heap that is hardly worth collecting
  bool steps_when_idle = false;  ///< the event loop collects, the heap does not by itself
};

/// Of the picture and of the page around it.
inline constexpr const char* kServerTitle =
    "Events that a large heap has to answer, by the way it collects";

/// The rows of `server`, in the order in which they are drawn.
const std::vector<ServerMode>& server_modes();

}  // namespace fallow::bench
