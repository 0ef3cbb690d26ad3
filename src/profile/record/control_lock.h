#pragma once

namespace fallow::profile {

/// Held while a recording is started or stopped. Whoever holds it may have to stop the world of a
/// heap: threads that wait for it count as parked.
class ControlLock {
 public:
  ControlLock() { acquire(); }
  ~ControlLock() { release(); }
  ControlLock(const ControlLock&) = delete;
  ControlLock& operator=(const ControlLock&) = delete;

  static void acquire();
  static void release() noexcept;
};

}  // namespace fallow::profile
