#include "collection_watch.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "platform/clock.h"
#include "platform/futex.h"
#include "platform/thread_id.h"
#include "thread_state.h"

namespace fallow::python {

namespace {
thread_local constinit std::uint64_t begun_by_this_thread = 0;
}  // namespace

PyMethodDef CollectionWatch::method_ = {
    "fallow_collection_watch",
    // The cast that CPython prescribes for METH_FASTCALL.
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CollectionWatch::on_phase)),
    METH_FASTCALL, "Tells fallow when a collection begins and ends."};
PyObject* CollectionWatch::callback_ = nullptr;
std::atomic<std::uint32_t> CollectionWatch::ended_{0};
std::atomic<std::uint64_t> CollectionWatch::thread_{0};
std::atomic<bool> CollectionWatch::lost_{false};
std::uint64_t CollectionWatch::began_ns_ = 0;
std::array<telemetry::PauseHistogram, CollectionWatch::kGenerations> CollectionWatch::pauses_;

bool CollectionWatch::install() {
  if (callback_ == nullptr) callback_ = PyCFunction_New(&method_, nullptr);
  if (callback_ == nullptr) return false;
  PyObject* const gc = PyImport_ImportModule("gc");
  if (gc == nullptr) return false;
  PyObject* const callbacks = PyObject_GetAttrString(gc, "callbacks");
  Py_DECREF(gc);
  if (callbacks == nullptr) return false;
  const int there = PySequence_Contains(callbacks, callback_);
  const bool done = there == 1 || (there == 0 && PyList_Append(callbacks, callback_) == 0);
  Py_DECREF(callbacks);
  return done;
}

PyObject* CollectionWatch::on_phase(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count == 2) {
    if (PyUnicode_CompareWithASCIIString(arguments[0], "start") == 0) {
      note_begin();
    } else {
      note_end(arguments[1]);
    }
  }
  Py_RETURN_NONE;
}

void CollectionWatch::note_begin() noexcept {
  ++begun_by_this_thread;
  lost_.store(false, std::memory_order_relaxed);
  thread_.store(platform::current_thread_id(), std::memory_order_relaxed);
  began_ns_ = platform::monotonic_ns();
}

void CollectionWatch::note_end(PyObject* info) noexcept {
  // One that began before the entry was made has an end without a beginning.
  if (collecting_here()) {
    PyObject* const key = PyDict_Check(info) ? PyDict_GetItemString(info, "generation") : nullptr;
    const long generation = key != nullptr ? PyLong_AsLong(key) : -1;
    if (generation >= 0 && static_cast<std::size_t>(generation) < kGenerations) {
      pauses_[static_cast<std::size_t>(generation)].record(platform::monotonic_ns() - began_ns_);
    }
    PyErr_Clear();
  }
  thread_.store(0, std::memory_order_relaxed);
  ended_.fetch_add(1, std::memory_order_release);
  platform::futex_wake_all(ended_);
}

bool CollectionWatch::collecting_here() noexcept {
  return thread_.load(std::memory_order_relaxed) == platform::current_thread_id();
}

bool CollectionWatch::collecting() noexcept { return thread_.load(std::memory_order_relaxed) != 0; }

std::uint64_t CollectionWatch::begun_here() noexcept { return begun_by_this_thread; }

bool CollectionWatch::wait(std::uint32_t ended, device::Clock::time_point deadline) {
  constexpr std::uint64_t kSliceNs = 20'000'000;
  while (ended_.load(std::memory_order_acquire) == ended) {
    if (lost_.load(std::memory_order_relaxed) || device::Clock::now() >= deadline) return false;
    if (!collecting()) {
      // Its beginning has not been seen, so its end may not be seen either.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return true;
    }
    const BlockingScope detached;
    platform::futex_wait(ended_, ended, kSliceNs);
  }
  return true;
}

void CollectionWatch::forked() noexcept {
  if (!collecting() || collecting_here()) return;
  lost_.store(true, std::memory_order_relaxed);
  thread_.store(0, std::memory_order_relaxed);
}

}  // namespace fallow::python
