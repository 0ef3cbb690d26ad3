#include "shared_device.h"

#include <utility>

#include "collection_responder.h"

namespace fallow::python {

SharedDevice::SharedDevice(device::HostBackendOptions host, const device::DeviceOptions& options,
                           bool collects)
    : backend(std::make_shared<device::HostBackend>(std::move(host))), device(backend, options) {
  if (!collects) return;
  collection_ = device.add_responder(CollectionResponder::instance(),
                                     {.name = "python collection", .cost = CostClass::kScript});
}

Storage::Storage(std::shared_ptr<SharedDevice> owner, const device::AllocationRequest& request)
    : owner_(std::move(owner)),
      bytes_(request.bytes),
      allocation_(owner_->device.allocate(request)) {}

std::shared_ptr<Storage> Storage::try_allocate(std::shared_ptr<SharedDevice> owner,
                                               const device::AllocationRequest& request) {
  const auto allocation = owner->device.try_allocate(request);
  if (!allocation) return nullptr;
  return std::make_shared<Storage>(std::move(owner), *allocation, request.bytes);
}

Storage::~Storage() {
  try {
    owner_->device.free(allocation_);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // It is the only one who frees it, so nothing can have gone wrong; and nobody could be told.
  }
}

std::byte* Storage::host() const {
  std::byte* view = host_.load(std::memory_order_relaxed);
  if (view == nullptr && bytes_ != 0) {
    view = owner_->device.host_view(allocation_).data();
    host_.store(view, std::memory_order_relaxed);
  }
  return view;
}

void Storage::free_after(std::span<const device::StreamId> streams) {
  owner_->device.free_after(std::exchange(allocation_, device::Allocation()), streams);
}

}  // namespace fallow::python
