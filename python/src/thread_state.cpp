#include "thread_state.h"

#include <chrono>
#include <thread>
#include <utility>

#include "collection_watch.h"
#include "interpreter_gate.h"

namespace fallow::python {

namespace {

/// What the calling thread has been detached from by PythonThreads, innermost.
thread_local constinit PyThreadState* detached_from = nullptr;

bool attached() noexcept {
  if (InterpreterGate::gone()) return false;
  PyThreadState* const current = _PyThreadState_UncheckedGet();
  if (current == nullptr) return false;
  // Up to 3.11 this is the state of whichever thread holds the GIL.
  if constexpr (PY_VERSION_HEX < 0x030C0000) {
    if (current == PyGILState_GetThisThreadState()) return true;
    // The main interpreter is the first, and new ones go before it. Where there are others, this
    // thread may hold the GIL with a state of theirs, which PyGILState does not know of. When the
    // interpreter ends, all of them are gone, and the states of threads too.
    return !InterpreterGate::closed() && PyInterpreterState_Head() != PyInterpreterState_Main() &&
           current->thread_id == PyThread_get_thread_ident();
  }
  return true;
}

}  // namespace

void stop_this_thread() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
}

void* PythonThreads::detach() noexcept {
  if (!attached()) return nullptr;
  detached_from = PyEval_SaveThread();
  return detached_from;
}

void PythonThreads::attach(void* token) noexcept {
  detached_from = nullptr;
  call_unwound_by_nobody([token] { PyEval_RestoreThread(static_cast<PyThreadState*>(token)); });
}

bool PythonThreads::interrupted(void*) noexcept {
  // Only through the gate: a thread that stopped here would still be in a queue.
  if (InterpreterGate::enter() != SkipReason::kNone) return false;
  void* const token = detached_from;
  attach(token);
  const bool raised = PyErr_CheckSignals() != 0;
  detach();
  InterpreterGate::leave();
  return raised;
}

bool PythonThreads::others_wait() noexcept { return CollectionWatch::collecting_here(); }

Attachment::Attachment() : refused_(InterpreterGate::enter()) {
  if (refused_ != SkipReason::kNone) return;
  if (!attached()) {
    own_ = std::exchange(detached_from, nullptr);
    PyInterpreterState* const main = PyInterpreterState_Main();
    PyThreadState* state = own_;
    if (own_ == nullptr) {
      way_ = Way::kEnsured;
    } else if (PyThreadState_GetInterpreter(own_) == main) {
      way_ = Way::kRestored;
    } else {
      // PyGILState means one state for each thread, which may be that of the other interpreter.
      way_ = Way::kMade;
      state = PyThreadState_New(main);
      if (state == nullptr) {
        // No memory for it.
        detached_from = std::exchange(own_, nullptr);
        refused_ = SkipReason::kDisabled;
        InterpreterGate::leave();
        return;
      }
    }
    call_unwound_by_nobody([this, state] {
      if (way_ == Way::kEnsured) {
        ensured_ = PyGILState_Ensure();
      } else {
        PyEval_RestoreThread(state);
      }
    });
  }
  pending_.emplace();
}

Attachment::~Attachment() {
  if (refused_ != SkipReason::kNone) return;
  pending_.reset();
  if (way_ == Way::kRestored) PyEval_SaveThread();
  if (way_ == Way::kEnsured) PyGILState_Release(ensured_);
  if (way_ == Way::kMade) {
    PyThreadState_Clear(PyThreadState_Get());
    PyThreadState_DeleteCurrent();
  }
  if (way_ != Way::kWasAttached) detached_from = own_;
  InterpreterGate::leave();
}

}  // namespace fallow::python
