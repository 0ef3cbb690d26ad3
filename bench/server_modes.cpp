#include "bench/server.h"

namespace fallow::bench {

const std::vector<ServerMode>& server_modes() {
  static const std::vector<ServerMode> modes = {
      {.name = "idle-heap", .meaning = "the same events, a tiny heap", .tiny_heap = true},
      {.name = "default", .meaning = "the heap collects in steps"},
      {.name = "pause-target",
       .meaning = "the heap keeps its pauses within 1 ms of CPU time",
       .configure = [](HeapOptions& options) { options.pause_target_microseconds = 1000; }},
      {.name = "marker",
       .meaning = "a thread of the heap marks beside the program",
       .configure = [](HeapOptions& options) { options.marker_threads = 1; }},
      {.name = "steps",
       .meaning = "the event loop collects while it waits",
       .steps_when_idle = true},
      {.name = "stop-the-world",
       .meaning = "the heap collects in one piece",
       .configure = [](HeapOptions& options) { options.step_budget_microseconds = 0; }},
  };
  return modes;
}

}  // namespace fallow::bench
