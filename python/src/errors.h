#pragma once

#include <nanobind/nanobind.h>

namespace fallow::python {

/// From now on the library's exceptions become those of fallow.errors.
void translate_errors();

}  // namespace fallow::python
