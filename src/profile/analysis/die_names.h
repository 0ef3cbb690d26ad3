#pragma once

#include <elfutils/libdw.h>

#include <vector>

#include "profile/analysis/symbolizer.h"

namespace fallow::profile {

/// The function at an address of a compilation unit and what is inlined there, outermost first.
/// The innermost one has no line yet. Empty when debug information says nothing.
std::vector<SymbolFrame> frames_at(Dwarf_Die* unit, Dwarf_Addr address);

}  // namespace fallow::profile
