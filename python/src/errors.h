#pragma once

#include <nanobind/nanobind.h>

#include "fallow/device_errors.h"

namespace fallow::python {

/// From now on the library's exceptions become those of fallow.errors.
void translate_errors();

/// Raises OutOfDeviceMemory for the caller to return. Not to be called inside a catch block: making
/// the exception runs Python code, and a daemon thread for which the interpreter ends there could
/// not be stopped.
[[noreturn]] void raise_out_of_memory(const device::OutOfDeviceMemory& error);

}  // namespace fallow::python
