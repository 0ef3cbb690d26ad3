// Objects with a life of their own: what registering, dying and delivering cost.
#include <algorithm>
#include <chrono>

#include "bench/stopwatch.h"
#include "bench/types.h"
#include "fallow/ephemeron.h"
#include "fallow/finalizer.h"
#include "fallow/identity_hash.h"
#include "fallow/ledger.h"
#include "fallow/weak.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 1'000'000;
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Steps of a full collection from its beginning to its end.
struct Cycle {
  std::uint64_t cpu_ns = 0;
  std::uint64_t longest_ns = 0;

  void run(Heap& heap) {
    StepResult result;
    do {
      result = heap.step(std::chrono::microseconds(200));
      cpu_ns += result.cpu_ns;
      longest_ns = std::max(longest_ns, result.cpu_ns);
    } while (!result.cycle_ended);
  }
};

double ns_of(const Stopwatch& watch) { return watch.cpu_s() * 1e9; }

double each(double ns, std::uint64_t count) { return ns / static_cast<double>(count); }

Metrics young_finalizers(std::uint64_t count) {
  HeapOptions options;
  options.nursery_bytes = std::min<std::size_t>(count * 24 + count * 4 + 16 * kMiB, 1024 * kMiB);
  Heap heap(options);
  Mutator mutator(heap, "bench");
  FinalizerQueue<Cell> queue(heap);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < count; ++i) queue.add(mutator, make<Cell>(mutator));
  const double registered = ns_of(watch);
  heap.collect_minor();
  const double collected = ns_of(watch);
  std::uint64_t delivered = 0;
  while (queue.next(mutator)) ++delivered;
  const double all = ns_of(watch);
  return {{"ns_each", each(all, delivered)},
          {"ns_register", each(registered, count)},
          {"ns_collect", each(collected - registered, count)},
          {"ns_next", each(all - collected, count)}};
}

/// Garbage with finalizers for ever.
Metrics endless_finalizers(std::uint64_t count) {
  Heap heap;
  Mutator mutator(heap, "bench");
  FinalizerQueue<Cell> queue(heap);
  std::size_t entries = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < count; ++i) {
    queue.add(mutator, make<Cell>(mutator));
    if (i % 4096 != 0) continue;
    entries = std::max(entries, heap.statistics().life_entry_bytes);
    while (queue.next(mutator)) {
    }
  }
  const HeapStatistics figures = heap.statistics();
  return {{"ns_each", each(ns_of(watch), count)},
          {"entries_mib", static_cast<double>(entries) / kMiB},
          {"committed_mib", static_cast<double>(figures.committed) / kMiB},
          {"full", static_cast<double>(figures.full_collections)}};
}

Metrics weak_to_garbage(std::uint64_t count) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Weak<Cell>>> all(mutator, make_array<Weak<Cell>>(mutator, count));
  {
    const Local<Array<Cell>> targets(mutator, make_array<Cell>(mutator, count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const Ref<Cell> cell = make<Cell>(mutator);
      targets->set(i, cell);
      const Ref<Weak<Cell>> weak = make_weak<Cell>(mutator, cell);
      all->set(i, weak);
    }
    heap.collect();
  }
  const auto before = static_cast<double>(heap.statistics().life_entry_bytes);
  Cycle cycle;
  cycle.run(heap);
  const HeapStatistics figures = heap.statistics();
  return {{"ns_each", each(static_cast<double>(cycle.cpu_ns), count)},
          {"longest_step_us", static_cast<double>(cycle.longest_ns) * 1e-3},
          {"cleared", static_cast<double>(figures.weak_cleared)},
          {"entries_mib_before", before / kMiB},
          {"entries_mib_after", static_cast<double>(figures.life_entry_bytes) / kMiB}};
}

/// Each key is reached through the value before it, and ephemerons are met in the worst order.
Metrics ephemeron_chain(std::uint64_t count) {
  using Pair = Ephemeron<Cell, Cell>;
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> pairs(mutator, make_array<Pair>(mutator, count));
  const Local<Cell> first(mutator, make<Cell>(mutator));
  Local<Cell> key(mutator, first);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Local<Cell> next(mutator, make<Cell>(mutator));
    const Ref<Pair> pair = make_ephemeron<Cell, Cell>(mutator, key, next);
    pairs->set(i, pair);
    key = next;
  }
  heap.collect();
  Cycle cycle;
  cycle.run(heap);
  return {{"ns_each", each(static_cast<double>(cycle.cpu_ns), count)},
          {"ms", static_cast<double>(cycle.cpu_ns) * 1e-6},
          {"longest_step_us", static_cast<double>(cycle.longest_ns) * 1e-3},
          {"cleared", static_cast<double>(heap.statistics().ephemerons_cleared)}};
}

struct Handle : Object {
  static constexpr auto kDestruction = Destruction::kWhenDead;
  explicit Handle(Charge&& owned) : charge(std::move(owned)) {}
  Charge charge;
  char filler[1000];
  using Fields = FieldList<>;
};

Metrics ledger_handles(std::uint64_t count) {
  Heap heap;
  Mutator mutator(heap, "bench");
  Ledger ledger(heap, {.name = "hbm", .hard_limit = 256 * kMiB, .counts_for_heap = false});
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < count; ++i) {
    Charge charge = ledger.charge(mutator, kMiB);
    make<Handle>(mutator, std::move(charge));
  }
  const LedgerStatistics figures = ledger.statistics();
  return {{"ns_each", each(ns_of(watch), count)},
          {"peak_mib", static_cast<double>(figures.peak) / kMiB},
          {"limit_mib", 256},
          {"minor", static_cast<double>(heap.statistics().minor_collections)},
          {"full", static_cast<double>(heap.statistics().full_collections)}};
}

Metrics identity_hashes(std::uint64_t count) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Cell>> all(mutator, make_array<Cell>(mutator, count));
  std::vector<std::uint64_t> hashes(count);
  const std::uint64_t before = heap.statistics().promoted;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Ref<Cell> cell = make<Cell>(mutator);
    hashes[i] = identity_hash(cell);
    all->set(i, cell);
  }
  heap.collect();
  heap.collect();
  std::uint64_t changed = 0;
  const Stopwatch again;
  for (std::uint64_t i = 0; i < count; ++i) changed += identity_hash(all->get(i)) != hashes[i];
  return {{"ns_old", each(ns_of(again), count)},
          {"changed", static_cast<double>(changed)},
          {"bytes_each", each(static_cast<double>(heap.statistics().promoted - before), count)}};
}

}  // namespace

std::vector<Row> lives_rows(const Options& options) {
  const std::uint64_t n = options.n == 0 ? kDefaultObjects : options.n;
  return {{"finalizers/young", [n] { return young_finalizers(10 * n); }, nullptr},
          {"finalizers/endless", [n] { return endless_finalizers(10 * n); }, nullptr},
          {"weak/garbage", [n] { return weak_to_garbage(n); }, nullptr},
          {"ephemerons/chain", [n] { return ephemeron_chain(n / 10); }, nullptr},
          {"ephemerons/tenth", [n] { return ephemeron_chain(n / 100); }, nullptr},
          {"ledger/handles", [n] { return ledger_handles(n); }, nullptr},
          {"hash", [n] { return identity_hashes(n); }, nullptr}};
}

}  // namespace fallow::bench
