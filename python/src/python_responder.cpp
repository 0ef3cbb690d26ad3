#include "python_responder.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "binding_names.h"
#include "device_handle.h"
#include "facts.h"
#include "fallow/pressure_observer.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

/// A function of the program. One reference, which the Registration shows to Python's collector:
/// the program's cycles through it can be collected. Read and changed attached.
class Callee {
 public:
  explicit Callee(nb::callable function) : function_(function.release().ptr()) {}
  ~Callee() {
    if (function_.load() == nullptr) return;
    // Dropped by the last owner, which may be any thread. Too late, it is left where it is.
    const Attachment attachment;
    if (attachment) clear();
  }
  Callee(const Callee&) = delete;
  Callee& operator=(const Callee&) = delete;

  void clear() noexcept { Py_XDECREF(function_.exchange(nullptr)); }
  [[nodiscard]] PyObject* borrowed() const noexcept { return function_.load(); }
  /// Empty when the collector has cleared it.
  [[nodiscard]] nb::object function() const { return nb::borrow(function_.load()); }

 private:
  std::atomic<PyObject*> function_;
};

/// What a Python exception says. One that is meant to end the program is raised again soon.
std::string text_of(const nb::python_error& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  const std::string name = nb::cast<std::string>(error.type().attr("__name__"));
  return name + ": " + nb::str(error.value()).c_str();
}

class PythonResponder final : public PressureResponder {
 public:
  explicit PythonResponder(std::shared_ptr<Callee> callee) : callee_(std::move(callee)) {}

  PressureOutcome respond(const PressureInfo& info) override {
    const Attachment attachment;
    if (!attachment) return PressureOutcome::skip(attachment.refused());
    std::string failure;
    PressureOutcome outcome;
    call_unwound_by_nobody([&] {
      try {
        const nb::object function = callee_->function();
        outcome = function.is_valid() ? outcome_of(function(info)) : PressureOutcome::useless();
      } catch (const nb::python_error& error) {
        failure = text_of(error);
      } catch (const nb::cast_error&) {
        failure = "TypeError: a responder returns None or one of fallow.pressure's outcomes";
      }
    });
    if (!failure.empty()) throw std::runtime_error(failure);
    return outcome;
  }

 private:
  static PressureOutcome outcome_of(const nb::object& answer) {
    return answer.is_none() ? PressureOutcome::done() : nb::cast<PressureOutcome>(answer);
  }
  const std::shared_ptr<Callee> callee_;
};

class PythonObserver final : public PressureObserver {
 public:
  explicit PythonObserver(std::shared_ptr<Callee> callee) : callee_(std::move(callee)) {}
  void on_responder(const ResponderEvent& event) override { tell("responder", event); }
  void on_window(const PressureWindowEvent& event) override { tell("window", event); }
  void on_out_of_memory(const device::OutOfMemoryReport& report) override {
    tell("out of memory", report);
  }

 private:
  template <class Event>
  void tell(const char* kind, const Event& event) {
    const Attachment attachment;
    if (!attachment) return;
    call_unwound_by_nobody([&] {
      try {
        if (const nb::object function = callee_->function()) function(kind, facts_of(event));
      } catch (nb::python_error& error) {
        error.restore();
        PyErr_WriteUnraisable(callee_->borrowed());
      }
    });
  }
  const std::shared_ptr<Callee> callee_;
};

/// fallow.pressure.Registration.
struct PythonRegistration {
  std::shared_ptr<Callee> callee;
  Registration registration;
};

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto& callee = nb::inst_ptr<PythonRegistration>(self)->callee;
  if (callee != nullptr) Py_VISIT(callee->borrowed());
  return 0;
}

int clear(PyObject* self) noexcept {
  const auto& callee = nb::inst_ptr<PythonRegistration>(self)->callee;
  if (callee != nullptr) callee->clear();
  return 0;
}

PyType_Slot registration_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};

CostClass cost_named(const std::string& name) {
  for (const CostClass each :
       {CostClass::kCache, CostClass::kNative, CostClass::kScript, CostClass::kSpill}) {
    if (name == name_of(each)) return each;
  }
  throw OptionError("fallow: cost must be cache, native, script or spill, is " + name);
}

PythonRegistration add_responder(const DeviceHandle& handle, nb::callable function,
                                 const std::string& name, const std::string& cost, int priority) {
  PythonRegistration made{std::make_shared<Callee>(std::move(function)), {}};
  made.registration =
      handle.device().add_responder(std::make_shared<PythonResponder>(made.callee),
                                    {.name = name, .cost = cost_named(cost), .priority = priority});
  return made;
}

PythonRegistration add_observer(const DeviceHandle& handle, nb::callable function) {
  PythonRegistration made{std::make_shared<Callee>(std::move(function)), {}};
  made.registration = handle.device().add_observer(std::make_shared<PythonObserver>(made.callee));
  return made;
}

double seconds_left(const PressureInfo& info) {
  return std::chrono::duration<double>(info.deadline - device::Clock::now()).count();
}

void bind_info(nb::module_& module) {
  nb::class_<PressureInfo> info(module, "PressureInfo", nb::is_final(),
                                "What is needed, and how badly.");
  info.def_ro("wanted", &PressureInfo::bytes_wanted, "Bytes; of a watermark: those above it.")
      .def_ro("alignment", &PressureInfo::alignment)
      .def_ro("domain", &PressureInfo::domain)
      .def_prop_ro("type", [](const PressureInfo& self) { return device::name_of(self.type); })
      .def_prop_ro(
          "level", [](const PressureInfo& self) { return name_of(self.level); },
          "soft: a watermark was crossed; hard: an allocation waits; last: it fails otherwise.")
      .def_ro("attempt", &PressureInfo::attempt, "Calls in this pass before this one.")
      .def_ro("round", &PressureInfo::round, "Passes over all responders before this one.")
      .def_ro("largest_free", &PressureInfo::largest_free)
      .def_ro("free", &PressureInfo::free_bytes)
      .def_prop_ro("seconds_left", &seconds_left, "Until the responder should be back.")
      .def_ro("depth", &PressureInfo::depth)
      .def("__repr__", [](const PressureInfo& self) {
        return nb::str("<fallow.pressure.PressureInfo {} bytes wanted, {}, attempt {}, round {}>")
            .attr("format")(self.bytes_wanted, name_of(self.level), self.attempt, self.round);
      });
  rename_module(info, "fallow.pressure");
}

}  // namespace

void bind_responders(nb::module_& module) {
  bind_info(module);
  nb::class_<PressureOutcome> outcome(
      module, "Outcome", nb::is_final(),
      "What a responder answers; see DONE, USELESS and the others.");
  rename_module(outcome, "fallow.pressure");
  module.attr("DONE") = PressureOutcome::done();
  module.attr("USELESS") = PressureOutcome::useless();
  module.attr("MORE_NOW") = PressureOutcome{.more_now = true};
  module.attr("MORE_AT_LAST") = PressureOutcome{.more_at_last = true};

  nb::class_<PythonRegistration> registration(
      module, "Registration", nb::type_slots(registration_slots), nb::is_weak_referenceable(),
      nb::is_final(),
      "A function's place in a device's list. Keep it: with the last reference it ends, as with\n"
      "close(). Ending waits for calls that are under way in other threads. May be used in "
      "`with`.");
  registration
      .def(
          "close", [](PythonRegistration& self) { self.registration.reset(); },
          "Ends it now; inside the function's own call, too.")
      .def_prop_ro(
          "active",
          [](const PythonRegistration& self) { return static_cast<bool>(self.registration); })
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](PythonRegistration& self, nb::args) { self.registration.reset(); })
      .def("__repr__", [](const PythonRegistration& self) {
        const nb::object function = self.callee->function();
        return nb::str("<fallow.pressure.Registration of {!r}{}>")
            .attr("format")(function.is_valid() ? function : nb::none(),
                            self.registration ? "" : ", ended");
      });
  rename_module(registration, "fallow.pressure");
  module.def("add_responder", &add_responder);
  module.def("add_observer", &add_observer);
}

}  // namespace fallow::python
