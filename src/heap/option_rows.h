#pragma once

#include <span>

#include "fallow/options.h"
#include "telemetry/option_table.h"

namespace fallow::detail {

/// The one table of heap options, from which parsing, checks and documentation are made.
std::span<const telemetry::OptionRow> heap_option_rows() noexcept;

/// Validated options with every "choose" replaced by a value; logs what was detected and chosen.
HeapOptions complete_options(const HeapOptions& options);

/// Says on standard error which diagnostics are active.
void announce_diagnostics(const HeapOptions& options);

}  // namespace fallow::detail
