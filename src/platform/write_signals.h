// Keeps SIGPIPE and SIGXFSZ from the calling thread, and swallows those raised meanwhile: a broken
// pipe or a file-size limit becomes an error code.
//
// Thread-safety: any thread; concerns the calling one.
#pragma once

#include <signal.h>

namespace fallow::platform {

class WriteSignalsHeld {
 public:
  WriteSignalsHeld() noexcept;
  ~WriteSignalsHeld();
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;

 private:
  sigset_t signals_;
  sigset_t before_;
};

}  // namespace fallow::platform
