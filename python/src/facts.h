// What the library reports, as dictionaries and names that Python programs read.
#pragma once

#include <nanobind/nanobind.h>

#include "fallow/device.h"
#include "fallow/pressure_observer.h"

namespace fallow::python {

const char* name_of(CostClass cost) noexcept;
const char* name_of(PressureLevel level) noexcept;

nanobind::dict facts_of(const device::OutOfMemoryReport& report);
nanobind::dict facts_of(const device::DeviceStatistics& statistics);
nanobind::dict facts_of(const ResponderStatistics& statistics);
nanobind::dict facts_of(const ResponderEvent& event);
nanobind::dict facts_of(const PressureWindowEvent& event);

}  // namespace fallow::python
