#pragma once

#include "fallow/detail/build_config.h"

namespace fallow::detail {

[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool t_destroying;

/// While the destructor of a managed object runs; checked builds refuse every use of a heap.
class DestructionScope {
 public:
  DestructionScope() noexcept : outer_(t_destroying) { t_destroying = true; }
  ~DestructionScope() { t_destroying = outer_; }
  DestructionScope(const DestructionScope&) = delete;
  DestructionScope& operator=(const DestructionScope&) = delete;

 private:
  const bool outer_;
};

/// Checked builds: stops the program inside a destructor.
void refuse_in_destructor() noexcept;

}  // namespace fallow::detail
