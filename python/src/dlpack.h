// DLPack, the exchange format for tensors: https://dmlc.github.io/dlpack
#pragma once

#include <Python.h>

#include <cstddef>
#include <memory>

namespace fallow::python {

/// A capsule with a one-dimensional tensor of bytes in the host's memory. `owner` lives until the
/// consumer is done, which may be in any thread, attached or not. Versioned (1.0) or in the older
/// form. Null with an exception set.
PyObject* make_dlpack_capsule(std::byte* data, std::size_t bytes, std::shared_ptr<void> owner,
                              bool versioned);

}  // namespace fallow::python
