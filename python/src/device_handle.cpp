#include "device_handle.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binding_names.h"
#include "buffer.h"
#include "collection_watch.h"
#include "errors.h"
#include "facts.h"
#include "fallow/device_trace.h"
#include "fallow/thread_hooks.h"
#include "telemetry/size_parser.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

using device::AllocationRequest;
using device::DeviceOptions;
using device::DomainId;
using device::HostBackendOptions;
using device::MemoryType;
using device::Placement;

/// 65536 or "64K".
std::uint64_t bytes_of(nb::handle size) {
  if (!nb::isinstance<nb::str>(size)) return nb::cast<std::uint64_t>(size);
  const telemetry::ParsedSize parsed = telemetry::parse_size(nb::cast<std::string>(size));
  if (!parsed) throw OptionError("fallow: " + parsed.error);
  return *parsed.bytes;
}

std::chrono::nanoseconds duration_of(double seconds) {
  constexpr double kMost = 1e9;  // far from the end of the clock's range
  if (!(seconds >= 0)) throw OptionError("fallow: a duration must not be negative");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, kMost) * 1e9));
}

template <class Value>
Value choice(const std::string& name, const char* option,
             std::initializer_list<std::pair<const char*, Value>> choices) {
  std::string names;
  for (const auto& [each, value] : choices) {
    if (name == each) return value;
    names += (names.empty() ? "" : ", ") + std::string(each);
  }
  throw OptionError("fallow: " + std::string(option) + " must be one of " + names + ", is " + name);
}

/// One size, or one for each domain.
std::vector<device::DomainInfo> domains_of(nb::handle capacity) {
  std::vector<device::DomainInfo> domains;
  const bool several = nb::isinstance<nb::list>(capacity) || nb::isinstance<nb::tuple>(capacity);
  if (!several) return {{"0", bytes_of(capacity), {}}};
  for (const nb::handle each : nb::borrow<nb::sequence>(capacity)) {
    domains.push_back({std::to_string(domains.size()), bytes_of(each), {}});
  }
  return domains;
}

std::vector<std::uint64_t> sizes_of(nb::handle sizes) {
  std::vector<std::uint64_t> all;
  for (const nb::handle each : nb::borrow<nb::sequence>(sizes)) all.push_back(bytes_of(each));
  return all;
}

/// Releasing what a device has may block, so the last owner detaches for it.
void destroy(SharedDevice* shared) {
  const BlockingScope detached;
  delete shared;
}

void create(DeviceHandle* handle, nb::object capacity, const std::string& name, bool backed,
            std::size_t alignment, nb::object region_bytes, unsigned max_regions, nb::object limit,
            nb::object emergency, const std::string& fit, const std::string& regions, double budget,
            double damper, double soft_watermark, double hard_watermark, double watermark_share,
            bool collect_garbage) {
  HostBackendOptions host;
  host.name = name;
  host.domains = domains_of(capacity);
  host.bytes = backed ? device::HostBytes::kBacked : device::HostBytes::kNone;
  DeviceOptions options;
  options.alignment = alignment;
  if (!region_bytes.is_none()) options.region_bytes = sizes_of(region_bytes);
  options.max_regions = max_regions;
  if (!limit.is_none()) options.limit_bytes = bytes_of(limit);
  options.emergency_bytes = bytes_of(emergency);
  options.fit = choice<device::FitStrategy>(fit, "fit",
                                            {{"segregated", device::FitStrategy::kSegregated},
                                             {"first", device::FitStrategy::kFirst},
                                             {"best", device::FitStrategy::kBest}});
  options.regions =
      choice<device::RegionStrategy>(regions, "regions",
                                     {{"fill-first", device::RegionStrategy::kFillFirst},
                                      {"balanced", device::RegionStrategy::kBalanced}});
  options.pressure_budget = duration_of(budget);
  options.damper_interval = duration_of(damper);
  options.soft_watermark = soft_watermark;
  options.hard_watermark = hard_watermark;
  options.watermark_share = watermark_share;
  if (collect_garbage && !CollectionWatch::install()) nb::raise_python_error();
  new (handle) DeviceHandle(std::shared_ptr<SharedDevice>(
      new SharedDevice(std::move(host), options, collect_garbage), destroy));
}

Placement placement_of(nb::handle domains) {
  if (domains.is_none()) return {};
  if (nb::isinstance<nb::int_>(domains)) return Placement::bind(nb::cast<DomainId>(domains));
  std::uint64_t set = 0;
  for (const nb::handle each : nb::borrow<nb::sequence>(domains)) {
    set |= Placement::bind(nb::cast<DomainId>(each)).domain_set();
  }
  return Placement::interleave(set);
}

AllocationRequest request_of(nb::handle size, std::size_t alignment, std::string_view type,
                             nb::handle domains, double budget) {
  AllocationRequest request;
  request.bytes = bytes_of(size);
  request.alignment = alignment;
  if (type == "program") {
    request.type = MemoryType::kProgram;
  } else if (type != "tensor") {
    throw UsageError("fallow: type must be tensor or program");
  }
  request.placement = placement_of(domains);
  request.budget = duration_of(budget);
  return request;
}

std::unique_ptr<Buffer> allocate(const DeviceHandle& self, nb::handle size, std::size_t alignment,
                                 std::string_view type, nb::handle domains, double budget) {
  const AllocationRequest request = request_of(size, alignment, type, domains, budget);
  std::optional<device::OutOfDeviceMemory> failure;
  try {
    return std::make_unique<Buffer>(std::make_shared<Storage>(self.shared(), request));
  } catch (const device::OutOfDeviceMemory& error) {
    failure = error;
  }
  raise_out_of_memory(*failure);
}

nb::object try_allocate(const DeviceHandle& self, nb::handle size, std::size_t alignment,
                        std::string_view type, nb::handle domains) {
  auto storage =
      Storage::try_allocate(self.shared(), request_of(size, alignment, type, domains, 0));
  if (storage == nullptr) return nb::none();
  return nb::cast(std::make_unique<Buffer>(std::move(storage)));
}

nb::list responder_statistics(const DeviceHandle& self) {
  nb::list all;
  for (const ResponderStatistics& each : self.device().responder_statistics()) {
    all.append(facts_of(each));
  }
  return all;
}

std::string dump(const DeviceHandle& self, bool json) {
  return self.device().dump(json ? device::DumpFormat::kJson : device::DumpFormat::kText);
}

std::string describe(const DeviceHandle& self) {
  if (self.closed()) return "<fallow.device.Device, closed>";
  const device::DeviceStatistics statistics = self.device().statistics();
  std::uint64_t capacity = 0;
  std::uint64_t used = 0;
  for (const device::DomainStatistics& domain : statistics.domains) {
    capacity += domain.capacity_bytes;
    for (const device::UsageStatistics& usage : domain.usage) used += usage.current_bytes;
  }
  const std::size_t domains = statistics.domains.size();
  return "<fallow.device.Device " + self.shared()->backend->name() + ", " +
         telemetry::format_bytes(used) + " of " + telemetry::format_bytes(capacity) + " in use" +
         (domains > 1 ? ", " + std::to_string(domains) + " domains" : "") + ">";
}

/// A trace's registration and the file that it writes.
struct Trace {
  std::shared_ptr<device::CsvTrace> file;
  Registration registration;

  void close() {
    registration.reset();
    const BlockingScope detached;
    file->flush();
  }
};

Trace trace(const DeviceHandle& self, const std::string& path) {
  Trace made{std::make_shared<device::CsvTrace>(path), {}};
  made.registration = self.device().add_trace(made.file);
  return made;
}

constexpr const char* kDoc =
    R"(Memory of an accelerator, handed out in buffers; reclaims garbage before it fails.

The device is one in software, on ordinary memory of the host (backed=False: of no memory, for
simulations of any size). Sizes are bytes, or texts such as "64M"; times are seconds.

capacity         its memory; a list: one entry for each domain (memory bank)
alignment        offsets and sizes are multiples of it
region_bytes     sizes of the regions to acquire, tried from the largest down
limit            bytes that the regions of a domain may have together
emergency        bytes of each domain set aside for tensors that finalizers and responders ask for
                 when it is full
fit              how a free block is found: segregated, first, best
regions          which region serves: fill-first, balanced
budget           how long a request may wait and reclaim before it fails
damper           least time between collections that found nothing
soft_watermark,  fractions of the capacity above which memory is reclaimed although nothing has
hard_watermark   failed; 0: never
collect_garbage  whether Python's garbage is collected under pressure: fallow.pressure.collection

Everything may be called from any thread. No call waits with the GIL held. In the child of a fork
the device is unusable: DeviceUnusable, and frees do nothing.)";

constexpr const char* kAllocateDoc =
    R"(Allocates a buffer; reclaims memory and waits for others who do, if need be.

size       bytes, or a text such as "1M"
alignment  of the offset; a power of two
type       tensor or program: they never share a region
domains    a domain's number (0), or several: the buffer is spread over them
budget     seconds to wait and reclaim at most; 0: the device's

Raises OutOfDeviceMemory, RequestTooLarge (both MemoryError), UsageError, DeviceUnusable.)";

}  // namespace

void bind_device(nb::module_& module) {
  nb::class_<DeviceHandle> type(module, "Device", nb::is_weak_referenceable(), nb::is_final(),
                                kDoc);
  type.def("__init__", &create, nb::arg("capacity") = "64M", nb::kw_only(),
           nb::arg("name") = "host", nb::arg("backed") = true, nb::arg("alignment") = 128,
           nb::arg("region_bytes") = nb::none(), nb::arg("max_regions") = 64,
           nb::arg("limit") = nb::none(), nb::arg("emergency") = 0, nb::arg("fit") = "segregated",
           nb::arg("regions") = "fill-first", nb::arg("budget") = 10.0, nb::arg("damper") = 0.01,
           nb::arg("soft_watermark") = 0.0, nb::arg("hard_watermark") = 0.0,
           nb::arg("watermark_share") = 0.05, nb::arg("collect_garbage") = true)
      .def("allocate", &allocate, nb::arg("size"), nb::kw_only(), nb::arg("alignment") = 0,
           nb::arg("type") = "tensor", nb::arg("domains") = nb::none(), nb::arg("budget") = 0.0,
           kAllocateDoc)
      .def("try_allocate", &try_allocate, nb::arg("size"), nb::kw_only(), nb::arg("alignment") = 0,
           nb::arg("type") = "tensor", nb::arg("domains") = nb::none(),
           "As allocate(), but without reclaiming and waiting: None when there is no room.")
      .def(
          "poll", [](const DeviceHandle& self) { self.device().poll(); },
          "Completes frees that are due, for programs that go idle.")
      .def(
          "trim", [](const DeviceHandle& self) { return self.device().trim(); },
          "Gives empty regions back; returns their bytes.")
      .def(
          "statistics",
          [](const DeviceHandle& self) { return facts_of(self.device().statistics()); },
          "One consistent moment, as nested dictionaries.")
      .def("responder_statistics", &responder_statistics,
           "What each responder has done, as dictionaries in the order in which they are called.")
      .def(
          "reset_peaks", [](const DeviceHandle& self) { self.device().reset_peaks(); },
          "Peaks become what is in use now.")
      .def("dump", &dump, nb::arg("json") = false, "Everything, to read; or as JSON.")
      .def("trace", &trace, nb::arg("path"),
           "Writes every allocation and free to a file, in RMM's CSV form, until it is closed.")
      .def(
          "submit",
          [](const DeviceHandle& self, device::StreamId stream, double seconds) {
            return self.shared()->backend->submit(stream, duration_of(seconds));
          },
          nb::arg("stream"), nb::arg("seconds"),
          "Gives a stream of the software device work that takes so long; returns its number.")
      .def("close", &DeviceHandle::close,
           "Lets go of the device; buffers that exist stay valid and keep its memory.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](DeviceHandle& self, nb::args) { self.close(); })
      .def("__repr__", &describe)
      .def_prop_ro(
          "usable", [](const DeviceHandle& self) { return self.device().usable(); },
          "False in the child of a fork.")
      .def_prop_ro("closed", &DeviceHandle::closed)
      .def_prop_ro("name", [](const DeviceHandle& self) { return self.shared()->backend->name(); });
  rename_module(type, "fallow.device");

  nb::class_<Trace> trace_type(module, "Trace", nb::is_final(), "A file that is being written.");
  trace_type.def("close", &Trace::close, "Ends it, and writes what is left.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](Trace& self, nb::args) { self.close(); })
      .def_prop_ro(
          "error", [](const Trace& self) { return self.file->error(); },
          "Why events were lost, or an empty text.");
  rename_module(trace_type, "fallow.device");
}

}  // namespace fallow::python
