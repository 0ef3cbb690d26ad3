#include "errors.h"

#include <exception>
#include <string>

#include "facts.h"
#include "fallow/device_errors.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

/// Never released: what goes wrong while the interpreter ends is still to be told.
PyObject* error_classes = nullptr;

/// Raises the class of that name in fallow.errors.
void raise(const char* name, const char* text, const nb::dict& facts = {}) {
  const nb::object type = nb::borrow<nb::dict>(error_classes)[name];
  const nb::object instance = type(text, facts);
  PyErr_SetObject(type.ptr(), instance.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const device::OutOfDeviceMemory& error) {
    raise("OutOfDeviceMemory", error.what(), facts_of(error.report()));
  } catch (const device::RequestTooLarge& error) {
    nb::dict facts;
    facts["requested"] = error.bytes();
    facts["largest_possible"] = error.largest_possible();
    raise("RequestTooLarge", error.what(), facts);
  } catch (const device::StaleAllocation& error) {
    raise("StaleAllocation", error.what());
  } catch (const device::DeviceUnusable& error) {
    raise("DeviceUnusable", error.what());
  } catch (const device::DeviceError& error) {
    raise("DeviceError", error.what());
  } catch (const OptionError& error) {
    raise("OptionError", error.what());
  } catch (const UsageError& error) {
    raise("UsageError", error.what());
  } catch (const Error& error) {
    raise("FallowError", error.what());
  }
}

}  // namespace

void raise_out_of_memory(const device::OutOfDeviceMemory& error) {
  // A signal's handler may have raised an exception, which is why the wait ended.
  if (PyErr_Occurred() == nullptr) {
    call_unwound_by_nobody(
        [&error] { raise("OutOfDeviceMemory", error.what(), facts_of(error.report())); });
  }
  nb::raise_python_error();
}

void translate_errors() {
  const nb::module_ errors = nb::module_::import_("fallow.errors");
  nb::dict classes;
  for (const nb::handle name : errors.attr("__all__")) classes[name] = errors.attr(name);
  error_classes = classes.release().ptr();
  nb::register_exception_translator(translate);
}

}  // namespace fallow::python
