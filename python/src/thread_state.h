// Attaching to the interpreter and detaching from it.
//
// A thread that has released the GIL waits for it, when it comes back, in the middle of whatever
// frames are on its stack; and if the interpreter has begun to finalize meanwhile, Python up to
// 3.13 ends the thread there by unwinding it, through frames that cannot be unwound. Here such a
// thread stops for good instead, as Python 3.14 does by itself.
#pragma once

#include <Python.h>
#include <cxxabi.h>

#include <optional>

#include "fallow/pressure.h"
#include "fallow/thread_hooks.h"

namespace fallow::python {

/// Sleeps for ever.
[[noreturn]] void stop_this_thread() noexcept;

/// Calls what may take the GIL. If the interpreter ends the thread there, it stops.
template <class Call>
auto call_unwound_by_nobody(Call&& call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    stop_this_thread();
  }
}

/// How the library's threads let Python go on while they wait.
class PythonThreads final : public ThreadHooks {
 public:
  void* detach() noexcept override;
  void attach(void* token) noexcept override;
  bool interrupted(void* token) noexcept override;
  bool others_wait() noexcept override;
};

/// The calling thread is attached to the main interpreter while one exists, if that is possible:
/// test it. Uses the thread state that the thread has, or makes one. A pending exception is put
/// aside. Waits for the GIL, so no lock of the library may be held.
class Attachment {
 public:
  Attachment();
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  explicit operator bool() const noexcept { return refused_ == SkipReason::kNone; }
  /// Why it is not attached.
  [[nodiscard]] SkipReason refused() const noexcept { return refused_; }

 private:
  /// What the thread's exception was.
  struct PendingError {
    PendingError() { PyErr_Fetch(&type, &value, &trace); }
    ~PendingError() { PyErr_Restore(type, value, trace); }
    PendingError(const PendingError&) = delete;
    PendingError& operator=(const PendingError&) = delete;
    PyObject *type, *value, *trace;
  };
  enum class Way { kWasAttached, kRestored, kEnsured, kMade };

  SkipReason refused_;
  Way way_ = Way::kWasAttached;
  PyThreadState* own_ = nullptr;
  PyGILState_STATE ensured_{};
  std::optional<PendingError> pending_;
};

}  // namespace fallow::python
