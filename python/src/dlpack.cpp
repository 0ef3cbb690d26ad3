#include "dlpack.h"

#include <cstdint>
#include <new>
#include <utility>

namespace fallow::python {

namespace {

// The layout that the specification prescribes.
struct DLDevice {
  std::int32_t type;
  std::int32_t id;
};
struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t dimensions;
  DLDataType type;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor tensor;
};
constexpr std::int32_t kCpu = 1;
constexpr std::uint8_t kUnsignedInteger = 1;

template <class Managed>
struct Names;
template <>
struct Names<DLManagedTensor> {
  static constexpr const char* kFresh = "dltensor";
};
template <>
struct Names<DLManagedTensorVersioned> {
  static constexpr const char* kFresh = "dltensor_versioned";
};

/// What the consumer is handed, and what it keeps alive.
template <class Managed>
struct Export {
  Managed managed{};
  std::int64_t shape = 0;
  std::int64_t stride = 1;
  std::shared_ptr<void> owner;

  static void drop(Managed* managed) { delete static_cast<Export*>(managed->context); }
  /// A consumer that took the tensor has given the capsule another name.
  static void drop_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, Names<Managed>::kFresh) == 0) return;
    drop(static_cast<Managed*>(PyCapsule_GetPointer(capsule, Names<Managed>::kFresh)));
  }
};

template <class Managed>
PyObject* make(std::byte* data, std::size_t bytes, std::shared_ptr<void> owner) {
  auto item = std::make_unique<Export<Managed>>();
  item->shape = static_cast<std::int64_t>(bytes);
  item->owner = std::move(owner);
  item->managed.context = item.get();
  item->managed.deleter = &Export<Managed>::drop;
  item->managed.tensor = {.data = data,
                          .device = {kCpu, 0},
                          .dimensions = 1,
                          .type = {kUnsignedInteger, 8, 1},
                          .shape = &item->shape,
                          .strides = &item->stride,
                          .byte_offset = 0};
  PyObject* const capsule =
      PyCapsule_New(&item->managed, Names<Managed>::kFresh, &Export<Managed>::drop_capsule);
  if (capsule != nullptr) static_cast<void>(item.release());
  return capsule;
}

}  // namespace

PyObject* make_dlpack_capsule(std::byte* data, std::size_t bytes, std::shared_ptr<void> owner,
                              bool versioned) {
  try {
    if (!versioned) return make<DLManagedTensor>(data, bytes, std::move(owner));
    PyObject* const capsule = make<DLManagedTensorVersioned>(data, bytes, std::move(owner));
    if (capsule != nullptr) {
      auto* const managed = static_cast<DLManagedTensorVersioned*>(
          PyCapsule_GetPointer(capsule, Names<DLManagedTensorVersioned>::kFresh));
      managed->major = 1;
    }
    return capsule;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

}  // namespace fallow::python
