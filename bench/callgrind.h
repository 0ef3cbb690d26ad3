#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fallow::bench {

/// Throws std::runtime_error that says how to get it when valgrind is not on PATH.
void require_valgrind();

/// Instructions for one object of a row: this executable runs the row's work twice under callgrind,
/// with two object counts, and the difference is divided. Repeatable whatever the machine is doing.
/// Throws std::runtime_error when valgrind is missing or fails.
double instructions_per_object(const std::string& benchmark, const std::string& row);

/// The count that a line of callgrind's output tells; 0 for any other line.
std::uint64_t collected_instructions(std::string_view line);

}  // namespace fallow::bench
