#include "fallow/device.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "device/device_core.h"
#include "telemetry/size_parser.h"

namespace fallow::device {

namespace {

void require(bool holds, const std::string& complaint) {
  if (!holds) throw OptionError("fallow: DeviceOptions::" + complaint);
}

bool is_fraction(double value) { return value >= 0 && value <= 1; }

/// Returns what it has checked.
std::shared_ptr<DeviceBackend> checked(std::shared_ptr<DeviceBackend> backend,
                                       const DeviceOptions& options) {
  if (backend == nullptr) throw OptionError("fallow: a device needs a backend");
  const std::size_t domains = backend->domains().size();
  if (domains == 0 || domains > kMaxDomains) {
    throw OptionError("fallow: a backend must have 1 to 64 domains, this one has " +
                      std::to_string(domains));
  }
  require(std::has_single_bit(options.alignment) && options.alignment >= 16 &&
              options.alignment <= std::size_t{1} << 20,
          "alignment must be a power of two, 16 bytes to 1 MiB, is " +
              telemetry::format_bytes(options.alignment));
  const auto in_range = [](unsigned value, unsigned most) { return value >= 1 && value <= most; };
  require(in_range(options.max_regions, 64), "max_regions must be 1 to 64");
  require(in_range(options.max_rounds, 100), "max_rounds must be 1 to 100");
  require(in_range(options.max_attempts, 100), "max_attempts must be 1 to 100");
  require(options.pressure_budget.count() > 0, "pressure_budget must be positive");
  require(options.damper_interval.count() >= 0, "damper_interval must not be negative");
  require(is_fraction(options.soft_watermark), "soft_watermark must be 0 to 1");
  require(is_fraction(options.hard_watermark), "hard_watermark must be 0 to 1");
  require(options.hard_watermark == 0 || options.soft_watermark <= options.hard_watermark,
          "soft_watermark must not be above hard_watermark");
  require(options.watermark_share >= 0.001 && options.watermark_share <= 1,
          "watermark_share must be 0.001 to 1");
  return backend;
}

/// Calls use(region memory, offset in it, offset in the host's range, bytes) for each piece.
template <class Use>
void for_each_piece(detail::DeviceCore& core, Allocation allocation, std::uint64_t offset,
                    std::size_t bytes, const char* what, Use&& use) {
  struct Piece {
    RegionMemory memory;
    std::uint64_t offset;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  std::size_t left = bytes;
  {
    const detail::DeviceCore::Locked lock(core);
    std::uint64_t start = offset;
    for (const detail::Block* block = &core.resolve(allocation, what);
         block != nullptr && left != 0; block = block->next) {
      if (start >= block->bytes) {
        start -= block->bytes;
        continue;
      }
      const std::size_t count = std::min<std::uint64_t>(left, block->bytes - start);
      pieces.push_back({core.pool.region_of(*block).place().memory, block->offset + start, count});
      left -= count;
      start = 0;
    }
  }
  if (left != 0) throw UsageError("fallow: a copy reaches beyond the end of an allocation");
  std::size_t done = 0;
  for (const Piece& piece : pieces) {
    use(piece.memory, piece.offset, done, piece.bytes);
    done += piece.bytes;
  }
}

class FunctionResponder final : public PressureResponder {
 public:
  explicit FunctionResponder(std::function<PressureOutcome(const PressureInfo&)> body)
      : body_(std::move(body)) {}
  PressureOutcome respond(const PressureInfo& info) override { return body_(info); }

 private:
  const std::function<PressureOutcome(const PressureInfo&)> body_;
};

}  // namespace

Device::Device(std::shared_ptr<DeviceBackend> backend, const DeviceOptions& options)
    : core_(std::make_unique<detail::DeviceCore>(checked(std::move(backend), options), options)) {}

Device::~Device() = default;

Allocation Device::allocate(const AllocationRequest& request) {
  return *core_->allocate(request, true);
}

std::optional<Allocation> Device::try_allocate(const AllocationRequest& request) {
  return core_->allocate(request, false);
}

void Device::free_after(Allocation allocation, std::span<const StreamId> streams) {
  core_->free(allocation, streams);
}

void Device::poll() {
  if (!core_->forked()) core_->poll_streams();
}

std::uint64_t Device::trim() { return core_->trim(); }

AllocationInfo Device::describe(Allocation allocation) const {
  AllocationInfo info;
  const detail::DeviceCore::Locked lock(*core_);
  for (const detail::Block* block = &core_->resolve(allocation, "described"); block != nullptr;
       block = block->next) {
    const detail::Region::Place& place = core_->pool.region_of(*block).place();
    info.type = place.type;
    info.bytes += block->bytes;
    info.chunks.push_back({place.domain, place.number, block->offset, block->bytes});
  }
  return info;
}

void Device::write(Allocation to, std::uint64_t offset, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  for_each_piece(
      *core_, to, offset, bytes, "written",
      [&](const RegionMemory& memory, std::uint64_t start, std::size_t done, std::size_t count) {
        const BlockingScope detached;
        backend().write(memory, start, static_cast<const std::byte*>(from) + done, count);
      });
}

void Device::read(Allocation from, std::uint64_t offset, void* to, std::size_t bytes) const {
  if (bytes == 0) return;
  for_each_piece(
      *core_, from, offset, bytes, "read",
      [&](const RegionMemory& memory, std::uint64_t start, std::size_t done, std::size_t count) {
        const BlockingScope detached;
        backend().read(memory, start, static_cast<std::byte*>(to) + done, count);
      });
}

std::span<std::byte> Device::host_view(Allocation allocation) const {
  const detail::DeviceCore::Locked lock(*core_);
  const detail::Block& block = core_->resolve(allocation, "viewed");
  std::byte* const host = core_->pool.region_of(block).place().memory.host;
  if (host == nullptr || block.next != nullptr) return {};
  return {host + block.offset, block.requested};
}

Registration Device::add_responder(std::shared_ptr<PressureResponder> responder,
                                   ResponderOptions options) {
  ResponderStatistics statistics;
  statistics.name = options.name;
  statistics.cost = options.cost;
  statistics.priority = options.priority;
  return core_->responders->add(std::move(responder), {std::move(options), std::move(statistics)});
}

Registration Device::add_responder(std::function<PressureOutcome(const PressureInfo&)> body,
                                   ResponderOptions options) {
  return add_responder(std::make_shared<FunctionResponder>(std::move(body)), std::move(options));
}

Registration Device::add_observer(std::shared_ptr<PressureObserver> observer) {
  return core_->observers->add(std::move(observer), {});
}

Registration Device::add_trace(std::shared_ptr<TraceSink> sink) {
  return core_->sinks->add(std::move(sink), {});
}

DeviceStatistics Device::statistics() const { return core_->statistics(); }

std::vector<ResponderStatistics> Device::responder_statistics() const {
  std::vector<ResponderStatistics> all;
  const auto entries = core_->responders->snapshot();
  core_->responders->locked([&] {
    for (const auto& entry : *entries) all.push_back(entry->data.statistics);
  });
  return all;
}

void Device::reset_peaks() { core_->reset_peaks(); }

std::string Device::dump(DumpFormat format) const { return core_->dump(format); }

bool Device::usable() const noexcept { return !core_->forked(); }

const DeviceOptions& Device::options() const noexcept { return core_->options; }

DeviceBackend& Device::backend() const noexcept { return *core_->backend; }

}  // namespace fallow::device
