#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "fallow/pressure.h"

namespace fallow {

/// The callback of allocators that call it with their mutex held: it unlocks, reclaims, and locks
/// again before it returns.
using PressureCallback = std::function<void(std::unique_lock<std::mutex>&)>;

/// A responder that runs such a callback. The lock is one of the adapter's own, never that of the
/// device. The contract is checked: a callback that returns without the lock, hands another mutex
/// back, or allocates or frees while it holds the lock, where the original would have hung, is
/// counted as a failure with its reason, and does no harm. A callback that throws is counted too.
/// For one device or several, one call at a time.
std::shared_ptr<PressureResponder> make_callback_responder(PressureCallback callback);

}  // namespace fallow
