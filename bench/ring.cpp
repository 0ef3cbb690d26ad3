#include "bench/ring.h"

#include <algorithm>

#include "bench/peers/peers.h"
#include "bench/types.h"

namespace fallow::bench {

namespace ring {

namespace {

constexpr std::uint64_t kDefaultPushes = 1'000'000;
constexpr std::size_t kSlots = 200'000;

Metrics measure_heap(std::uint64_t pushes) {
  using Message = ValueArray<unsigned char>;
  const std::size_t slots = slots_for(pushes);
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Message>> messages(mutator, make_array<Message>(mutator, slots));
  Metrics metrics = measure(pushes, slots, [&](std::size_t slot) {
    const Ref<Message> message = make_values<Message>(mutator, kMessageBytes);
    std::memset(message->data(), static_cast<unsigned char>(slot), kMessageBytes);
    messages->set(slot, message);
  });
  // Of the pushes that filled the ring, too.
  metrics.emplace_back("max_us_cpu", microseconds(heap.statistics().pause_cpu.max_ns));
  return metrics;
}

}  // namespace

std::size_t slots_for(std::uint64_t pushes) { return std::min<std::uint64_t>(pushes, kSlots); }

Metrics metrics(const telemetry::PauseHistogram& pushes, const Stopwatch& watch,
                std::size_t slots) {
  const double wall_s = watch.wall_s();
  const double cpu_s = watch.process_cpu_s();
  const double peak_mib = peak_rss_mib();
  const double live_mib = mib(slots * (kMessageBytes + sizeof(void*)));
  const auto percentile = [&pushes](double part) { return microseconds(pushes.percentile(part)); };
  return {{"p50_us", percentile(0.5)},
          {"p99_us", percentile(0.99)},
          {"p999_us", percentile(0.999)},
          {"p9999_us", percentile(0.9999)},
          {"max_us", percentile(1)},
          {"wall_s", wall_s},
          {"cpu_s", cpu_s},
          {"peak_rss_mib", peak_mib},
          {"high_water_ratio", peak_mib / live_mib}};
}

}  // namespace ring

std::vector<Row> ring_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : ring::kDefaultPushes;
  std::vector<Row> rows = {{"fallow", [n] { return ring::measure_heap(n); }, nullptr}};
  for (Row& row : peer_ring_rows(n)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fallow::bench
