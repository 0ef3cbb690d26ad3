#include "collection_responder.h"

#include <chrono>
#include <cstring>

#include "collection_watch.h"
#include "platform/clock.h"
#include "thread_state.h"

namespace fallow::python {

namespace {

/// What full collections for the calling thread's present request have taken.
thread_local constinit std::uint64_t spent_ns = 0;

std::uint64_t ns_until(device::Clock::time_point moment) {
  const auto left = std::chrono::nanoseconds(moment - device::Clock::now()).count();
  return left > 0 ? static_cast<std::uint64_t>(left) : 0;
}

}  // namespace

const std::shared_ptr<CollectionResponder>& CollectionResponder::instance() {
  static const auto* const responder =
      new std::shared_ptr<CollectionResponder>(std::make_shared<CollectionResponder>());
  return *responder;
}

bool CollectionResponder::prepare() {
  PyObject* const gc = PyImport_ImportModule("gc");
  if (gc == nullptr) return false;
  // The functions, not their names: a program may put others in their place.
  collect_ = PyObject_GetAttrString(gc, "collect");
  freeze_count_ = PyObject_GetAttrString(gc, "get_freeze_count");
  Py_DECREF(gc);
  // Free-threaded builds, which have a "t" there, have no generations.
  PyObject* const flags = PySys_GetObject("abiflags");
  const char* const text = flags != nullptr ? PyUnicode_AsUTF8(flags) : nullptr;
  young_costs_less_ = text == nullptr || std::strchr(text, 't') == nullptr;
  return collect_ != nullptr && freeze_count_ != nullptr && PyErr_Occurred() == nullptr;
}

PressureOutcome CollectionResponder::busy() {
  if (!policy.wait) return PressureOutcome::skip(SkipReason::kBusy);
  counts.waited.fetch_add(1, std::memory_order_relaxed);
  return PressureOutcome::busy(CollectionWatch::ended());
}

bool CollectionResponder::refuses() const noexcept {
  if (!policy.enabled) return true;
  if (!policy.in_nogc && nogc_scopes.load(std::memory_order_relaxed) > 0) return true;
  return !policy.when_disabled && PyGC_IsEnabled() == 0;
}

bool CollectionResponder::collect(bool young, std::uint64_t& ns) {
  const std::uint64_t begun_before = CollectionWatch::begun_here();
  const std::uint64_t began_ns = platform::monotonic_ns();
  call_unwound_by_nobody([this, young] {
    PyObject* const generation = PyLong_FromLong(young ? 1 : 2);
    // Unlike PyGC_Collect it collects when collection is disabled.
    PyObject* const found = generation != nullptr
                                ? PyObject_CallFunctionObjArgs(collect_, generation, nullptr)
                                : nullptr;
    Py_XDECREF(generation);
    Py_XDECREF(found);
    if (found == nullptr) PyErr_WriteUnraisable(collect_);
  });
  ns = platform::monotonic_ns() - began_ns;
  return CollectionWatch::begun_here() != begun_before;
}

std::size_t CollectionResponder::frozen_objects() const {
  PyObject* const count = PyObject_CallFunctionObjArgs(freeze_count_, nullptr);
  const long value = count != nullptr ? PyLong_AsLong(count) : 0;
  Py_XDECREF(count);
  PyErr_Clear();
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

PressureOutcome CollectionResponder::respond(const PressureInfo& info) {
  if (info.depth > 0 || CollectionWatch::collecting_here()) {
    return PressureOutcome::skip(SkipReason::kReentrant);
  }
  // Not attached for that: it would take the GIL from the thread that collects.
  if (CollectionWatch::collecting()) return busy();
  const Attachment attachment;
  if (!attachment) return PressureOutcome::skip(attachment.refused());
  if (refuses()) return PressureOutcome::skip(SkipReason::kDisabled);
  if (CollectionWatch::collecting()) return busy();
  if (!CollectionWatch::install()) PyErr_Clear();

  const bool first = info.round == 0 && info.attempt == 0;
  if (first) spent_ns = 0;
  const bool young =
      info.level == PressureLevel::kSoft || (first && policy.young_first && young_costs_less_);
  const std::uint64_t budget_ns = policy.budget_ns;
  const bool too_late =
      last_full_ns_ > ns_until(info.deadline) || (budget_ns != 0 && spent_ns >= budget_ns);
  if (!young && too_late) return PressureOutcome::skip(SkipReason::kOutOfTime);

  std::uint64_t ns = 0;
  if (!collect(young, ns)) return busy();
  counts.ns.fetch_add(ns, std::memory_order_relaxed);
  (young ? counts.young : counts.full).fetch_add(1, std::memory_order_relaxed);
  PressureOutcome outcome;
  outcome.more_now = young && info.level != PressureLevel::kSoft;
  if (!young) {
    spent_ns += ns;
    last_full_ns_ = ns;
    outcome.frozen_objects = frozen_objects();
  }
  return outcome;
}

bool CollectionResponder::wait_while_busy(std::uint64_t epoch, device::Clock::time_point deadline) {
  return CollectionWatch::wait(static_cast<std::uint32_t>(epoch), deadline);
}

}  // namespace fallow::python
