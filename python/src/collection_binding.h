#pragma once

#include <nanobind/nanobind.h>

namespace fallow::python {

/// Binds the policy of the collection responder, nogc scopes, and the pauses of CPython's
/// collector.
void bind_collections(nanobind::module_& module);

}  // namespace fallow::python
