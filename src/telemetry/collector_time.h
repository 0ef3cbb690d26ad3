#pragma once

namespace fallow::telemetry {

namespace detail {
extern thread_local constinit int collector_depth [[gnu::tls_model("initial-exec")]];
}  // namespace detail

/// Whether the calling thread works for a collector; also for a signal handler that has interrupted
/// it. Samples of time tell that apart from the program's own work.
inline bool in_collector() noexcept { return detail::collector_depth != 0; }

/// Around the work of a collector, on its thread. Nests.
inline void enter_collector() noexcept { ++detail::collector_depth; }
inline void leave_collector() noexcept { --detail::collector_depth; }

}  // namespace fallow::telemetry
