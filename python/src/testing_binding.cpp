#include "testing_binding.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "binding_names.h"
#include "device/device_core.h"
#include "device_handle.h"
#include "fallow/fault_injector.h"
#include "fallow/thread_hooks.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

/// How the threads of a NativeLoad stand towards Python.
enum class Standing { kNone, kDetached, kAttached };

/// Threads that Python did not make, which allocate and free until they are stopped. What becomes
/// of them is counted outside, since they may outlive the object and the interpreter.
class NativeLoad {
 public:
  struct Counts {
    std::atomic<std::uint64_t> allocations{0};
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> other_errors{0};
    std::atomic<bool> stop{false};
  };

  NativeLoad(const DeviceHandle& handle, unsigned threads, std::size_t bytes, std::size_t keep,
             const std::string& standing) {
    const Standing chosen = standing == "attached"   ? Standing::kAttached
                            : standing == "detached" ? Standing::kDetached
                                                     : Standing::kNone;
    // A thread that first attaches when the interpreter has ended is beyond help, and no test of
    // this library.
    const auto started = std::make_shared<std::latch>(threads);
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back(run, handle.shared(), counts, started, bytes, keep, chosen);
    }
    const BlockingScope detached;
    started->wait();
  }
  ~NativeLoad() {
    if (!threads_.empty()) counts->stop = true;
    for (std::thread& thread : threads_) thread.detach();
  }
  NativeLoad(const NativeLoad&) = delete;
  NativeLoad& operator=(const NativeLoad&) = delete;

  void stop() {
    counts->stop = true;
    const BlockingScope detached;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// The threads go on whatever happens to the interpreter.
  void abandon() {
    for (std::thread& thread : threads_) thread.detach();
    threads_.clear();
  }

  const std::shared_ptr<Counts> counts = std::make_shared<Counts>();

 private:
  static void run(std::shared_ptr<SharedDevice> shared, std::shared_ptr<Counts> counts,
                  std::shared_ptr<std::latch> started, std::size_t bytes, std::size_t keep,
                  Standing standing) {
    if (standing == Standing::kNone) {
      started->count_down();
      return work(*shared, *counts, bytes, keep, standing);
    }
    call_unwound_by_nobody([&] {
      const PyGILState_STATE state = PyGILState_Ensure();
      started->count_down();
      if (standing == Standing::kDetached) {
        PyThreadState* const own = PyEval_SaveThread();
        work(*shared, *counts, bytes, keep, standing);
        PyEval_RestoreThread(own);
      } else {
        work(*shared, *counts, bytes, keep, standing);
      }
      PyGILState_Release(state);
    });
  }
  static void work(SharedDevice& shared, Counts& counts, std::size_t bytes, std::size_t keep,
                   Standing standing) {
    std::vector<device::Allocation> kept;
    while (!counts.stop.load(std::memory_order_relaxed)) {
      if (kept.size() > keep) {
        shared.device.free(kept.front());
        kept.erase(kept.begin());
      }
      // Attached, it must let others have the interpreter now and then.
      if (standing == Standing::kAttached) const BlockingScope detached;
      try {
        kept.push_back(shared.device.allocate(bytes));
        counts.allocations.fetch_add(1, std::memory_order_relaxed);
      } catch (const device::OutOfDeviceMemory&) {
        counts.failures.fetch_add(1, std::memory_order_relaxed);
      } catch (const Error&) {
        counts.other_errors.fetch_add(1, std::memory_order_relaxed);
        break;
      }
    }
    for (const device::Allocation each : kept) shared.device.free(each);
  }

  std::vector<std::thread> threads_;
};

/// Holds a device's mutex in a thread of its own, as nothing in the library ever does so long.
class HeldMutex {
 public:
  HeldMutex(const DeviceHandle& handle, double seconds) {
    const auto held = std::make_shared<std::latch>(1);
    thread_ = std::thread([shared = handle.shared(), held, seconds] {
      const device::detail::DeviceCore::Locked lock(
          device::detail::DeviceAccess::core(shared->device));
      held->count_down();
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    });
    const BlockingScope detached;
    held->wait();
  }
  ~HeldMutex() { join(); }
  HeldMutex(const HeldMutex&) = delete;
  HeldMutex& operator=(const HeldMutex&) = delete;

  void join() {
    if (!thread_.joinable()) return;
    const BlockingScope detached;
    thread_.join();
  }

 private:
  std::thread thread_;
};

void set_faults(const DeviceHandle& handle, std::uint64_t nth_allocation,
                std::uint64_t every_allocation, std::uint64_t nth_byte, std::uint64_t nth_reserve,
                double probability, std::uint64_t seed, std::uint64_t thread) {
  handle.shared()->backend->injector().set({.nth_allocation = nth_allocation,
                                            .every_allocation = every_allocation,
                                            .nth_byte = nth_byte,
                                            .nth_reserve = nth_reserve,
                                            .probability = probability,
                                            .seed = seed,
                                            .thread = thread});
}

/// The library's deallocation, in a thread without a state of Python.
void drop_in_native_thread(nb::object buffer_memory) {
  nb::object moved = std::move(buffer_memory);
  PyObject* const object = moved.release().ptr();
  std::thread([object] {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(object);
    PyGILState_Release(state);
  }).detach();
}

/// What a thread of another interpreter does that uses the device from C++.
std::uint64_t allocate_in_new_interpreter(const DeviceHandle& handle, std::size_t bytes,
                                          std::size_t keep, std::uint64_t count) {
  const std::shared_ptr<SharedDevice> shared = handle.shared();
  PyThreadState* const own = PyThreadState_Get();
  PyThreadState* const other = Py_NewInterpreter();
  if (other == nullptr) {
    PyThreadState_Swap(own);
    throw UsageError("fallow: no other interpreter could be made");
  }
  std::uint64_t failures = 0;
  std::vector<device::Allocation> kept;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (kept.size() > keep) {
      shared->device.free(kept.front());
      kept.erase(kept.begin());
    }
    try {
      kept.push_back(shared->device.allocate(bytes));
    } catch (const device::OutOfDeviceMemory&) {
      ++failures;
    }
    // Still in its own interpreter, with nothing pending.
    if (PyThreadState_Get() != other || PyErr_Occurred() != nullptr) ++failures;
  }
  for (const device::Allocation each : kept) shared->device.free(each);
  Py_EndInterpreter(other);
  PyThreadState_Swap(own);
  return failures;
}

double lingering_seconds = 0;

/// The process goes on so long between the interpreter's end and its own.
void linger_at_exit(double seconds) {
  if (lingering_seconds == 0) {
    std::atexit(
        [] { std::this_thread::sleep_for(std::chrono::duration<double>(lingering_seconds)); });
  }
  lingering_seconds = seconds;
}

}  // namespace

void bind_testing(nb::module_& module) {
  nb::class_<NativeLoad> load(
      module, "NativeLoad", nb::is_final(),
      "Native threads that allocate and free until stop(): with no thread state (none), with one\n"
      "that is detached, or attached.");
  load.def(nb::init<const DeviceHandle&, unsigned, std::size_t, std::size_t, const std::string&>(),
           nb::arg("device"), nb::arg("threads") = 1, nb::arg("nbytes") = std::size_t{1} << 20,
           nb::arg("keep") = 1, nb::arg("standing") = "none")
      .def("stop", &NativeLoad::stop, "Ends the threads and waits for them.")
      .def("abandon", &NativeLoad::abandon, "Lets them go on, whatever happens to the interpreter.")
      .def_prop_ro("allocations",
                   [](const NativeLoad& self) { return self.counts->allocations.load(); })
      .def_prop_ro("failures", [](const NativeLoad& self) { return self.counts->failures.load(); })
      .def_prop_ro("other_errors",
                   [](const NativeLoad& self) { return self.counts->other_errors.load(); });
  rename_module(load, "fallow.testing");
  nb::class_<HeldMutex> held(module, "HeldMutex", nb::is_final(),
                             "Holds the device's mutex for so many seconds in another thread.");
  held.def(nb::init<const DeviceHandle&, double>(), nb::arg("device"), nb::arg("seconds"))
      .def("join", &HeldMutex::join, "Waits for the end.");
  rename_module(held, "fallow.testing");
  module.def("set_faults", &set_faults, nb::arg("device"), nb::kw_only(),
             nb::arg("nth_allocation") = 0, nb::arg("every_allocation") = 0,
             nb::arg("nth_byte") = 0, nb::arg("nth_reserve") = 0, nb::arg("probability") = 0.0,
             nb::arg("seed") = 1, nb::arg("thread") = 0);
  module.def("allocate_in_new_interpreter", &allocate_in_new_interpreter, nb::arg("device"),
             nb::arg("nbytes"), nb::arg("keep"), nb::arg("count"));
  module.def("linger_at_exit", &linger_at_exit, nb::arg("seconds"));
  module.def("drop_in_native_thread", &drop_in_native_thread, nb::arg("object"));
}

}  // namespace fallow::python
