#include "device/device_registry.h"

#include <mutex>
#include <vector>

#include "device/device_core.h"
#include "platform/fork_handlers.h"

namespace fallow::device::detail {

namespace {

struct Registry {
  platform::RankedMutex mutex{platform::LockRank::kDevices, "devices"};
  std::vector<DeviceCore*> devices;
  std::uint32_t created = 0;
};

Registry& registry() {
  // Never destroyed: fork handlers may run at any time until the process ends.
  static Registry* const instance = new Registry;
  return *instance;
}

void prepare() {
  registry().mutex.native().lock();
  for (DeviceCore* const core : registry().devices) core->prepare_fork();
}

void parent() {
  for (DeviceCore* const core : registry().devices) core->parent_after_fork();
  registry().mutex.native().unlock();
}

void child() {
  for (DeviceCore* const core : registry().devices) core->child_after_fork();
  registry().mutex.native().unlock();
}

}  // namespace

std::uint32_t register_device(DeviceCore* core) {
  static const bool installed = [] {
    platform::on_fork(prepare, parent, child, platform::LockRank::kDevices);
    return true;
  }();
  static_cast<void>(installed);
  const std::scoped_lock lock(registry().mutex);
  registry().devices.push_back(core);
  return ++registry().created;
}

void unregister_device(DeviceCore* core) noexcept {
  const std::scoped_lock lock(registry().mutex);
  std::erase(registry().devices, core);
}

}  // namespace fallow::device::detail
