#include "telemetry/collector_time.h"

namespace fallow::telemetry::detail {

thread_local constinit int collector_depth = 0;

}  // namespace fallow::telemetry::detail
