#pragma once

#include <nanobind/nanobind.h>

namespace fallow::python {

/// Binds fallow.testing: what a program needs to test itself with a device.
void bind_testing(nanobind::module_& module);

}  // namespace fallow::python
