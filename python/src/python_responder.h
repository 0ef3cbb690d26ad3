#pragma once

#include <nanobind/nanobind.h>

namespace fallow::python {

/// Binds PressureInfo and Registration: Python functions as responders and observers.
void bind_responders(nanobind::module_& module);

}  // namespace fallow::python
