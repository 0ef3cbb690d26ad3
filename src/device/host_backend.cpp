#include "fallow/host_backend.h"

#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "device/host_streams.h"
#include "fallow/device_errors.h"
#include "platform/virtual_memory.h"

namespace fallow::device {

struct HostBackend::Books {
  mutable platform::RankedMutex mutex{platform::LockRank::kHostBackend, "host backend"};
  std::vector<std::uint64_t> used;  ///< by domain
  unsigned regions = 0;
  std::uint64_t next_id = 1;
};

namespace {

void pass_time(std::chrono::nanoseconds latency) {
  if (latency.count() > 0) std::this_thread::sleep_for(latency);
}

std::byte* obtain(std::uint64_t bytes) noexcept {
  void* const start = platform::reserve(bytes, 0);
  if (start == nullptr) return nullptr;
  const std::size_t page = platform::page_size();
  if (platform::commit(start, (bytes + page - 1) / page * page)) {
    return static_cast<std::byte*>(start);
  }
  platform::release(start, bytes);
  return nullptr;
}

[[noreturn]] void refuse_copy() {
  throw BackendError("fallow: the memory of this device is only declared, it has no bytes");
}

}  // namespace

HostBackend::HostBackend(HostBackendOptions options)
    : options_(std::move(options)),
      streams_(std::make_unique<detail::HostStreams>()),
      books_(std::make_unique<Books>()) {
  const std::size_t domains = options_.domains.size();
  if (domains == 0 || domains > kMaxDomains) {
    throw OptionError("fallow: HostBackendOptions::domains must have 1 to 64 entries, has " +
                      std::to_string(domains));
  }
  if (!options_.distances.empty() && options_.distances.size() != domains * domains) {
    throw OptionError("fallow: HostBackendOptions::distances must have a row for each domain");
  }
  books_->used.resize(domains);
}

HostBackend::~HostBackend() = default;

unsigned HostBackend::distance(DomainId from, DomainId to) const {
  if (options_.distances.empty()) return DeviceBackend::distance(from, to);
  return options_.distances.at(from * options_.domains.size() + to);
}

std::uint64_t HostBackend::free_bytes(DomainId domain) const {
  const std::scoped_lock lock(books_->mutex);
  return options_.domains.at(domain).capacity_bytes - books_->used[domain];
}

bool HostBackend::reserve(DomainId domain, MemoryType, std::uint64_t bytes, RegionMemory& memory) {
  pass_time(options_.reserve_latency);
  {
    const std::scoped_lock lock(books_->mutex);
    const bool full = options_.max_regions != 0 && books_->regions == options_.max_regions;
    if (full || bytes > options_.domains.at(domain).capacity_bytes - books_->used[domain]) {
      return false;
    }
    books_->used[domain] += bytes;
    ++books_->regions;
    memory = {books_->next_id++, nullptr};
  }
  if (options_.bytes == HostBytes::kNone) return true;
  memory.host = obtain(bytes);
  if (memory.host != nullptr) return true;
  const std::scoped_lock lock(books_->mutex);
  books_->used[domain] -= bytes;
  --books_->regions;
  return false;
}

void HostBackend::release(DomainId domain, const RegionMemory& memory,
                          std::uint64_t bytes) noexcept {
  pass_time(options_.release_latency);
  if (memory.host != nullptr) platform::release(memory.host, bytes);
  const std::scoped_lock lock(books_->mutex);
  books_->used[domain] -= bytes;
  --books_->regions;
}

void HostBackend::write(const RegionMemory& to, std::uint64_t offset, const void* from,
                        std::size_t bytes) {
  if (to.host == nullptr) refuse_copy();
  pass_time(options_.copy_latency);
  std::memcpy(to.host + offset, from, bytes);
}

void HostBackend::read(const RegionMemory& from, std::uint64_t offset, void* to,
                       std::size_t bytes) {
  if (from.host == nullptr) refuse_copy();
  pass_time(options_.copy_latency);
  std::memcpy(to, from.host + offset, bytes);
}

std::uint64_t HostBackend::record(StreamId stream) noexcept { return streams_->submitted(stream); }

std::uint64_t HostBackend::completed(StreamId stream) noexcept {
  return streams_->completed(stream);
}

bool HostBackend::wait(StreamId stream, std::uint64_t number, Clock::time_point deadline) noexcept {
  return streams_->wait(stream, number, deadline);
}

std::uint64_t HostBackend::submit(StreamId stream, std::chrono::nanoseconds duration) {
  return streams_->submit(stream, duration);
}

std::uint64_t HostBackend::submit_held(StreamId stream) { return streams_->submit_held(stream); }

void HostBackend::advance(StreamId stream, std::uint64_t count) {
  streams_->advance(stream, count);
}

}  // namespace fallow::device
