// Allocation loops in functions of their own, for the test that looks at their machine code.
#pragma once

#include <cstdint>

#include "fallow/mutator.h"

// C names, so that a disassembler finds them by name.
extern "C" {
void fallow_test_loop_without_initialisation(fallow::Mutator& mutator, std::uint64_t count);
void fallow_test_loop_with_initialisation(fallow::Mutator& mutator, std::uint64_t count);
void fallow_test_cursor_without_initialisation(fallow::Mutator& mutator, std::uint64_t count);
void fallow_test_cursor_with_initialisation(fallow::Mutator& mutator, std::uint64_t count);
}
