#pragma once

#include <nanobind/nanobind.h>

namespace fallow::python {

/// Classes are shown with the module in which programs find them.
inline void rename_module(nanobind::handle type, const char* module) {
  nanobind::setattr(type, "__module__", nanobind::str(module));
}

}  // namespace fallow::python
