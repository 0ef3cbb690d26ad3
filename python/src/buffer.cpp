#include "buffer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding_names.h"
#include "dlpack.h"
#include "fallow/thread_hooks.h"
#include "telemetry/size_parser.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

/// A view of somebody's bytes, given back at the end.
class ByteView {
 public:
  ByteView(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) nb::raise_python_error();
  }
  ~ByteView() { PyBuffer_Release(&view_); }
  ByteView(const ByteView&) = delete;
  ByteView& operator=(const ByteView&) = delete;

  [[nodiscard]] void* data() const noexcept { return view_.buf; }
  [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

[[noreturn]] void refuse_export(const char* why) { throw nb::buffer_error(why); }

std::size_t rest_of(const Buffer& buffer, std::size_t offset) {
  if (offset > buffer.bytes) throw UsageError("fallow: the offset is beyond the end of the buffer");
  return buffer.bytes - offset;
}

/// The device rounds up and would let it pass.
void require_inside(const Buffer& buffer, std::size_t offset, std::size_t bytes) {
  if (bytes > rest_of(buffer, offset)) {
    throw UsageError("fallow: the copy reaches beyond the end of the buffer");
  }
}

void write(const Buffer& buffer, nb::handle data, std::size_t offset) {
  const std::shared_ptr<Storage> storage = buffer.use();
  const ByteView from(data, PyBUF_C_CONTIGUOUS);
  require_inside(buffer, offset, from.bytes());
  storage->owner().device.write(storage->allocation(), offset, from.data(), from.bytes());
}

nb::bytes read(const Buffer& buffer, std::optional<std::size_t> count, std::size_t offset) {
  const std::shared_ptr<Storage> storage = buffer.use();
  const std::size_t bytes = count.value_or(rest_of(buffer, offset));
  require_inside(buffer, offset, bytes);
  nb::object result = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
  if (!result.is_valid()) nb::raise_python_error();
  storage->owner().device.read(storage->allocation(), offset, PyBytes_AS_STRING(result.ptr()),
                               bytes);
  return nb::borrow<nb::bytes>(result);
}

void read_into(const Buffer& buffer, nb::handle target, std::size_t offset) {
  const std::shared_ptr<Storage> storage = buffer.use();
  const ByteView to(target, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  require_inside(buffer, offset, to.bytes());
  storage->owner().device.read(storage->allocation(), offset, to.data(), to.bytes());
}

void copy_from(const Buffer& buffer, const Buffer& source, std::size_t offset) {
  const std::shared_ptr<Storage> to = buffer.use();
  const std::shared_ptr<Storage> from = source.use();
  require_inside(buffer, offset, source.bytes);
  // In pieces, through the host: all that a backend promises.
  std::vector<std::byte> piece(std::min<std::size_t>(source.bytes, std::size_t{1} << 20));
  const BlockingScope detached;
  for (std::size_t done = 0; done < source.bytes; done += piece.size()) {
    const std::size_t count = std::min(piece.size(), source.bytes - done);
    from->owner().device.read(from->allocation(), done, piece.data(), count);
    to->owner().device.write(to->allocation(), offset + done, piece.data(), count);
  }
}

void free_buffer(Buffer& buffer, const std::vector<device::StreamId>& streams) {
  if (buffer.storage == nullptr) return;
  if (buffer.exports.load(std::memory_order_acquire) != 0 || buffer.storage.use_count() > 1) {
    refuse_export(
        "fallow: the buffer is in use: views or tensors of it exist, or it is being copied");
  }
  const std::shared_ptr<Storage> storage = std::exchange(buffer.storage, nullptr);
  if (!streams.empty()) storage->free_after(streams);
}

std::byte* visible(const Storage& storage) {
  std::byte* const host = storage.host();
  if (host == nullptr && storage.bytes() != 0) {
    refuse_export("fallow: the host does not see this memory: copy it with read()");
  }
  return host;
}

nb::object dlpack(const Buffer& buffer, nb::handle, nb::handle max_version, nb::handle dl_device,
                  nb::handle copy) {
  const std::shared_ptr<Storage> storage = buffer.use();
  if (!dl_device.is_none() && !dl_device.equal(nb::make_tuple(1, 0))) {
    refuse_export("fallow: the memory is the host's: dl_device must be (1, 0)");
  }
  if (!copy.is_none() && nb::cast<bool>(copy)) {
    refuse_export("fallow: a copy is not made here: use read()");
  }
  const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  nb::object capsule =
      nb::steal(make_dlpack_capsule(visible(*storage), storage->bytes(), storage, versioned));
  if (!capsule.is_valid()) nb::raise_python_error();
  return capsule;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  Buffer& buffer = *nb::inst_ptr<Buffer>(self);
  try {
    const std::shared_ptr<Storage> storage = buffer.use();
    const int result = PyBuffer_FillInfo(view, self, visible(*storage),
                                         static_cast<Py_ssize_t>(buffer.bytes), 0, flags);
    if (result == 0) buffer.exports.fetch_add(1, std::memory_order_relaxed);
    return result;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    view->obj = nullptr;
    return -1;
  }
}

void release_buffer(PyObject* self, Py_buffer*) noexcept {
  nb::inst_ptr<Buffer>(self)->exports.fetch_sub(1, std::memory_order_release);
}

std::string describe(const Buffer& buffer) {
  std::string text = "<fallow.device.Buffer " + telemetry::format_bytes(buffer.bytes);
  const std::shared_ptr<Storage> storage = buffer.storage;
  if (storage == nullptr) return text + ", freed>";
  text += " on " + storage->owner().backend->name();
  if (storage->allocation()) {
    const device::AllocationInfo info = storage->owner().device.describe(storage->allocation());
    for (std::size_t i = 0; i < info.chunks.size(); ++i) {
      text += (i == 0 ? ", domain " : "+") + std::to_string(info.chunks[i].domain);
    }
    text += std::string(", ") + device::name_of(info.type);
  }
  return text + ">";
}

nb::list chunks(const Buffer& buffer) {
  const std::shared_ptr<Storage> storage = buffer.use();
  nb::list list;
  if (!storage->allocation()) return list;
  for (const device::Chunk& chunk :
       storage->owner().device.describe(storage->allocation()).chunks) {
    nb::dict each;
    each["domain"] = chunk.domain;
    each["region"] = chunk.region;
    each["offset"] = chunk.offset;
    each["bytes"] = chunk.bytes;
    list.append(each);
  }
  return list;
}

PyType_Slot buffer_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

constexpr const char* kDoc =
    R"(Memory of a device, freed with the last reference to it or to a view of it.

Made by Device.allocate(). Freeing never blocks and may happen in any thread, inside a collection,
and while the interpreter ends. Where the host sees the memory, it has the buffer protocol and
DLPack: memoryview(buffer), numpy.frombuffer(buffer), numpy.from_dlpack(buffer) copy nothing.)";

}  // namespace

std::shared_ptr<Storage> Buffer::use() const {
  std::shared_ptr<Storage> memory = storage;
  if (memory == nullptr) throw UsageError("fallow: the buffer has been freed");
  return memory;
}

void bind_buffer(nb::module_& module) {
  nb::class_<Buffer> type(module, "Buffer", nb::type_slots(buffer_slots),
                          nb::is_weak_referenceable(), nb::is_final(), kDoc);
  type.def("write", &write, nb::arg("data"), nb::arg("offset") = 0,
           "Copies the bytes of an object with the buffer protocol to the device.")
      .def("read", &read, nb::arg("nbytes") = nb::none(), nb::arg("offset") = 0,
           "Copies bytes from the device; all from the offset on, unless a number is given.")
      .def("read_into", &read_into, nb::arg("target"), nb::arg("offset") = 0,
           "Copies as many bytes as a writable object with the buffer protocol has.")
      .def("copy_from", &copy_from, nb::arg("source"), nb::arg("offset") = 0,
           "Copies another buffer, of any device, to this one.")
      .def(
          "free", &free_buffer, nb::arg("streams") = std::vector<device::StreamId>(),
          "Frees the memory now, or when the work so far on these streams (at most four) is done.\n"
          "BufferError while views of it exist. A buffer that was freed already is left alone.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](Buffer& self, nb::args) { free_buffer(self, {}); })
      .def("__len__", [](const Buffer& self) { return self.bytes; })
      .def("__repr__", &describe)
      .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Buffer&) { return std::pair<int, int>(1, 0); })
      .def_prop_ro(
          "nbytes", [](const Buffer& self) { return self.bytes; }, "As asked for, before rounding.")
      .def_prop_ro(
          "freed", [](const Buffer& self) { return self.storage == nullptr; },
          "Whether free() was called.")
      .def_prop_ro(
          "number", [](const Buffer& self) { return self.use()->allocation().number(); },
          "The allocation's number, never used twice by a device; 0 for zero bytes.")
      .def_prop_ro("chunks", &chunks,
                   "Where it lies: a list of dictionaries with domain, region, offset, bytes.");
  rename_module(type, "fallow.device");
}

}  // namespace fallow::python
