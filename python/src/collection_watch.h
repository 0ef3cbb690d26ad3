#pragma once

#include <Python.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "fallow/device_types.h"
#include "telemetry/histogram.h"

namespace fallow::python {

/// Sees every collection of the main interpreter begin and end, by an entry in gc.callbacks: who
/// collects, until when, and how long it took. All static, as CPython's collector is. What is asked
/// here may be asked by any thread, attached or not.
class CollectionWatch {
 public:
  static constexpr std::size_t kGenerations = 3;

  /// Puts the entry into gc.callbacks unless it is there. Attached. False with an exception set.
  static bool install();

  /// Whether the calling thread is inside a collection: in a finalizer, say.
  static bool collecting_here() noexcept;
  /// Whether any thread is.
  static bool collecting() noexcept;
  /// Counts the collections that have ended: what wait() is to be given.
  static std::uint32_t ended() noexcept { return ended_.load(std::memory_order_acquire); }
  /// Waits, detached, until more have ended. False at the deadline, and when no end can be seen.
  static bool wait(std::uint32_t ended, device::Clock::time_point deadline);
  /// Counts the collections that the calling thread has begun.
  static std::uint64_t begun_here() noexcept;

  static const telemetry::PauseHistogram& pauses(std::size_t generation) noexcept {
    return pauses_[generation];
  }
  /// A collection of a thread that does not exist here will never end.
  static void forked() noexcept;

 private:
  static PyObject* on_phase(PyObject*, PyObject* const* arguments, Py_ssize_t count);
  static void note_begin() noexcept;
  static void note_end(PyObject* info) noexcept;

  static PyMethodDef method_;
  static PyObject* callback_;
  static std::atomic<std::uint32_t> ended_;
  static std::atomic<std::uint64_t> thread_;  ///< that collects, or 0
  static std::atomic<bool> lost_;
  static std::uint64_t began_ns_;  ///< of the thread that collects
  static std::array<telemetry::PauseHistogram, kGenerations> pauses_;
};

}  // namespace fallow::python
