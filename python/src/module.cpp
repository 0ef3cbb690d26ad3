// fallow._native: what the Python package is made of. Programs use fallow.device, fallow.pressure,
// fallow.gc and fallow.testing.
#include <nanobind/nanobind.h>

#include <chrono>

#include "buffer.h"
#include "collection_binding.h"
#include "collection_responder.h"
#include "collection_watch.h"
#include "device_handle.h"
#include "errors.h"
#include "fallow/version.h"
#include "interpreter_gate.h"
#include "platform/fork_handlers.h"
#include "python_responder.h"
#include "testing_binding.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

/// How long the interpreter's end waits for responders that are running.
constexpr std::chrono::seconds kExitPatience(10);

/// The interpreter's end and forks: from then on nobody enters it.
void watch_lifecycle() {
  const nb::module_ atexit = nb::module_::import_("atexit");
  atexit.attr("register")(nb::cpp_function([] { InterpreterGate::close(kExitPatience); }));
  Py_AtExit([] { InterpreterGate::note_gone(); });
  platform::on_fork(nullptr, nullptr, [] {
    InterpreterGate::forked();
    CollectionWatch::forked();
  });
  nb::dict arguments;
  arguments["after_in_child"] = nb::cpp_function(&InterpreterGate::repaired_after_fork);
  nb::module_::import_("os").attr("register_at_fork")(**arguments);
}

void initialise(nb::module_& module) {
  nb::set_leak_warnings(false);
  // Never destroyed: threads may wait until the process ends.
  static auto* const threads = new PythonThreads;
  set_thread_hooks(threads);
  if (!CollectionResponder::instance()->prepare()) nb::raise_python_error();
  watch_lifecycle();
  module.attr("__version__") = kVersion;
  translate_errors();
  bind_buffer(module);
  bind_device(module);
  bind_responders(module);
  bind_collections(module);
  bind_testing(module);
}

}  // namespace

}  // namespace fallow::python

NB_MODULE(_native_of_main, module) { fallow::python::initialise(module); }

/// Before nanobind does anything: it has one state for all interpreters of a process.
extern "C" NB_EXPORT PyObject* PyInit__native() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit__native_of_main();
  PyErr_SetString(PyExc_ImportError,
                  "fallow can be imported in the main interpreter only. Threads of other "
                  "interpreters may use its devices from C++.");
  return nullptr;
}
