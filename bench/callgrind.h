#pragma once

#include <cstdint>
#include <string>

namespace fallow::bench {

/// Instructions for one object of a row: this executable runs the row's work twice under callgrind,
/// with two object counts, and the difference is divided. Repeatable whatever the machine is doing.
/// Throws std::runtime_error when valgrind is missing or fails.
double instructions_per_object(const std::string& benchmark, const std::string& row);

}  // namespace fallow::bench
