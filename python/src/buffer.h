#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "shared_device.h"

namespace fallow::python {

/// fallow.device.Buffer. Holds no Python object, so it is never part of a cycle by itself.
struct Buffer {
  explicit Buffer(std::shared_ptr<Storage> memory)
      : storage(std::move(memory)), bytes(storage->bytes()) {}

  /// Throws UsageError when it has been freed.
  [[nodiscard]] std::shared_ptr<Storage> use() const;

  std::shared_ptr<Storage> storage;  ///< null when freed
  const std::size_t bytes;
  std::atomic<std::uint32_t> exports{0};  ///< buffer views that exist
};

void bind_buffer(nanobind::module_& module);

}  // namespace fallow::python
