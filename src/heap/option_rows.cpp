#include "heap/option_rows.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "fallow/errors.h"
#include "heap/address_space.h"
#include "heap/nursery.h"
#include "heap/nursery_size.h"
#include "platform/cache_sizes.h"
#include "platform/environment.h"
#include "platform/memory_limit.h"
#include "telemetry/log.h"
#include "telemetry/size_parser.h"

namespace fallow {

namespace detail {

namespace {

using telemetry::OptionRow;
using Kind = OptionRow::Kind;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;
constexpr double kTiB = 1024 * kGiB;

/// The order of rows is that of kMembers below.
constexpr OptionRow kRows[] = {
    {"nursery_bytes", "FALLOW_NURSERY", Kind::kBytes, 4 * kKiB, kGiB, "(from the cache sizes)",
     "Young space shared by all mutators of a heap; larger means fewer, cheaper minor collections "
     "and more memory."},
    {"hard_limit_bytes", "FALLOW_HARD_LIMIT", Kind::kBytes, 16 * kMiB, 16 * kTiB, "(none)",
     "Ceiling of the memory that a heap takes from the system; an allocation that would exceed it "
     "collects, then fails with OutOfMemory."},
    {"soft_limit_bytes", "FALLOW_SOFT_LIMIT", Kind::kBytes, 16 * kMiB, 16 * kTiB,
     "(three quarters of the container's limit)",
     "Used memory that the heap tries to stay below by full collections."},
    {"limit_cpu_share", "FALLOW_LIMIT_SHARE", Kind::kRatio, 0.01, 0.99, "0.5",
     "Part of the time that collections forced by a limit may take in the long run; after that the "
     "heap grows past the soft limit, and allocations at the hard limit fail."},
    {"growth_factor", "FALLOW_GROWTH_FACTOR", Kind::kRatio, 1.1, 10, "1.82",
     "A full collection starts when used memory has grown by this factor since the last one."},
    {"growth_cap_bytes", "FALLOW_GROWTH_CAP", Kind::kBytes, kMiB, 16 * kTiB, "(none)",
     "A full collection starts at the latest after so much growth."},
    {"growth_floor_bytes", "FALLOW_GROWTH_FLOOR", Kind::kBytes, kMiB, 16 * kTiB,
     "(twice the nursery, at least 16 MiB)",
     "No full collection starts by itself below so much used memory."},
    {"step_budget_microseconds", "FALLOW_STEP_BUDGET", Kind::kMicroseconds, 0, 1e7, "500 µs",
     "CPU time of one step of a full collection, at most; there are as many steps as the cycle "
     "needs "
     "to keep pace. 0: full collections are not sliced."},
    {"marker_threads", "FALLOW_MARKER_THREADS", Kind::kCount, 0, 1, "0",
     "Threads that mark for full collections while the program runs; worth it where a processor is "
     "idle."},
    {"pause_target_microseconds", "FALLOW_PAUSE_TARGET", Kind::kMicroseconds, 0, 1e7, "0 (none)",
     "CPU time that a whole pause should take at most, in 999 of 1000 cases; the heap uses less of "
     "the nursery to keep to it. Takes us, ms and s."},
    {"reclaim_age_microseconds", "FALLOW_RECLAIM_AGE", Kind::kMicroseconds, 0, 3600e6, "500 ms",
     "Free memory goes back to the system when it has not been used for so long; takes us, ms and "
     "s."},
    {"reclaimer_thread", "FALLOW_RECLAIMER", Kind::kFlag, 0, 1, "1",
     "A thread of the library hands free memory back; without it pauses do, 256 KiB at a time."},
    {"slot_stack_bytes", "FALLOW_SLOT_STACK", Kind::kBytes, 4 * kKiB, 64 * kGiB, "8M",
     "Address space for the slots of Locals of each mutator; memory is taken when used."},
    {"stop_warning_microseconds", "FALLOW_STOP_WARNING", Kind::kMicroseconds, 100, 3600e6, "1s",
     "A collection that waits longer for a mutator reports its name to listeners "
     "(on_stuck_mutator) and to "
     "the log; takes us, ms and s."},
    {"huge_pages", "FALLOW_HUGE_PAGES", Kind::kFlag, 0, 1, "1",
     "Ask the system for huge pages for the nursery, and for the old space beyond its first 4 "
     "MiB."},
    {"zeal", "FALLOW_ZEAL", Kind::kCount, 0, 1e12, "0",
     "Diagnostic: collect at every n-th allocation on average; 0 is off."},
    {"zeal_seed", "FALLOW_ZEAL_SEED", Kind::kCount, 0, OptionRow::kUnbounded, "1",
     "Diagnostic: seed of the schedule of zeal."},
    {"rotating_nurseries", "FALLOW_ROTATE", Kind::kCount, 0, 64, "0",
     "Diagnostic: so many nurseries take turns, the idle ones inaccessible, so that stale "
     "references fault; 0 and 1 are off."},
    {"poison", "FALLOW_POISON", Kind::kFlag, 0, 1, "0",
     "Diagnostic: fill unused heap memory with a pattern; always on in checked builds."},
    {"verify", "FALLOW_VERIFY", Kind::kFlag, 0, 1, "0",
     "Diagnostic: check every invariant before and after each collection."},
};

/// A member of HeapOptions, whatever its type.
struct Member {
  std::size_t HeapOptions::* size = nullptr;
  std::uint64_t HeapOptions::* number = nullptr;
  double HeapOptions::* ratio = nullptr;
  bool HeapOptions::* flag = nullptr;
  bool zero_chooses = false;  ///< zero is outside the range and means "choose" or "none"

  [[nodiscard]] double value(const HeapOptions& options) const {
    if (size != nullptr) return static_cast<double>(options.*size);
    if (number != nullptr) return static_cast<double>(options.*number);
    if (ratio != nullptr) return options.*ratio;
    return options.*flag ? 1 : 0;
  }
  void set(HeapOptions& options, const telemetry::OptionValue& value) const {
    if (size != nullptr) options.*size = value.number;
    if (number != nullptr) options.*number = value.number;
    if (ratio != nullptr) options.*ratio = value.ratio;
    if (flag != nullptr) options.*flag = value.flag;
  }
};

constexpr Member kMembers[] = {
    {.size = &HeapOptions::nursery_bytes, .zero_chooses = true},
    {.size = &HeapOptions::hard_limit_bytes, .zero_chooses = true},
    {.size = &HeapOptions::soft_limit_bytes, .zero_chooses = true},
    {.ratio = &HeapOptions::limit_cpu_share},
    {.ratio = &HeapOptions::growth_factor},
    {.size = &HeapOptions::growth_cap_bytes, .zero_chooses = true},
    {.size = &HeapOptions::growth_floor_bytes, .zero_chooses = true},
    {.number = &HeapOptions::step_budget_microseconds},
    {.size = &HeapOptions::marker_threads},
    {.number = &HeapOptions::pause_target_microseconds},
    {.number = &HeapOptions::reclaim_age_microseconds},
    {.flag = &HeapOptions::reclaimer_thread},
    {.size = &HeapOptions::slot_stack_bytes},
    {.number = &HeapOptions::stop_warning_microseconds},
    {.flag = &HeapOptions::huge_pages},
    {.size = &HeapOptions::zeal},
    {.number = &HeapOptions::zeal_seed},
    {.size = &HeapOptions::rotating_nurseries},
    {.flag = &HeapOptions::poison},
    {.flag = &HeapOptions::verify},
};
static_assert(std::size(kMembers) == std::size(kRows));

/// Young space and the first blocks must fit below a hard limit.
constexpr std::size_t kNurseryPartOfLimit = 8;
constexpr std::size_t kSmallestFloor = std::size_t{16} << 20;
constexpr std::size_t kPage = 4096;

std::size_t choose_nursery(const HeapOptions& options) {
  std::size_t bytes = options.nursery_bytes;
  if (bytes == 0) {
    const platform::CacheSizes caches = platform::detect_cache_sizes();
    // A small address space, as under ulimit -v, has to serve several heaps.
    bytes = std::min(default_nursery_bytes(caches), AddressSpace::instance().nursery_span() / 2);
    telemetry::LogSection log("gc-hardware");
    log.line("L2cache = %zu", caches.l2);
    log.line("caches: %s", caches.to_string().c_str());
    if (options.hard_limit_bytes != 0) {
      bytes = std::min(bytes, options.hard_limit_bytes / kNurseryPartOfLimit);
    }
  }
  if (options.hard_limit_bytes != 0 && bytes > options.hard_limit_bytes / 2) {
    throw OptionError("fallow: nursery_bytes is " + telemetry::format_bytes(bytes) +
                      ", more than half of hard_limit_bytes, " +
                      telemetry::format_bytes(options.hard_limit_bytes));
  }
  bytes = bytes / kPage * kPage;
  const std::size_t chunk = Nursery::chunk_bytes_for(bytes);
  return bytes / chunk * chunk;
}

}  // namespace

std::span<const OptionRow> heap_option_rows() noexcept { return kRows; }

/// Three quarters of what the container permits; 0 when it permits everything.
std::size_t choose_soft_limit() {
  const std::uint64_t container = platform::container_memory_limit();
  if (container == platform::kNoMemoryLimit) return 0;
  telemetry::LogSection log("gc-hardware");
  log.line("container memory limit: %" PRIu64, container);
  return static_cast<std::size_t>(container / 4 * 3);
}

HeapOptions complete_options(const HeapOptions& options) {
  options.validate();
  HeapOptions complete = options;
  complete.nursery_bytes = choose_nursery(options);
  if (complete.growth_floor_bytes == 0) {
    complete.growth_floor_bytes = std::max(2 * complete.nursery_bytes, kSmallestFloor);
  }
  if (complete.soft_limit_bytes == 0) complete.soft_limit_bytes = choose_soft_limit();
  telemetry::LogSection log("gc-set-nursery-size");
  log.line("nursery size: %zu", complete.nursery_bytes);
  return complete;
}

void announce_diagnostics(const HeapOptions& options) {
  if (options.zeal != 0) {
    std::fprintf(stderr,
                 "fallow: zeal is active: one collection in %zu allocations, seed %" PRIu64 "\n",
                 options.zeal, options.zeal_seed);
  }
  if (options.rotating_nurseries > 1) {
    std::fprintf(stderr, "fallow: %zu protected nurseries take turns\n",
                 options.rotating_nurseries);
  }
  const std::string log_error = telemetry::log_error();
  if (!log_error.empty()) std::fprintf(stderr, "fallow: the log is off: %s\n", log_error.c_str());
  if (options.poison) std::fprintf(stderr, "fallow: unused heap memory is poisoned\n");
  if (options.verify) std::fprintf(stderr, "fallow: the verifier runs at every collection\n");
}

}  // namespace detail

HeapOptions HeapOptions::from_environment() {
  HeapOptions options;
  for (std::size_t i = 0; i < std::size(detail::kRows); ++i) {
    // As in the structure, zero means "choose" or "none" where the range begins above it.
    if (detail::kMembers[i].zero_chooses &&
        platform::environment(detail::kRows[i].environment) == "0") {
      continue;
    }
    const telemetry::ParsedOption parsed = telemetry::option_from_environment(detail::kRows[i]);
    if (!parsed.error.empty()) throw OptionError("fallow: " + parsed.error);
    if (parsed) detail::kMembers[i].set(options, *parsed.value);
  }
  return options;
}

void HeapOptions::validate() const {
  for (std::size_t i = 0; i < std::size(detail::kRows); ++i) {
    const telemetry::OptionRow& row = detail::kRows[i];
    const double value = detail::kMembers[i].value(*this);
    if (value == 0 && detail::kMembers[i].zero_chooses) continue;
    if (value >= row.minimum && value <= row.maximum) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.15g", value);
    throw OptionError(std::string("fallow: ") + row.name + " is " + text +
                      ", permitted: " + telemetry::describe_range(row));
  }
}

std::string options_as_markdown() { return telemetry::options_as_markdown(detail::kRows); }

}  // namespace fallow
