#include <vector>

#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultStores = 10'000'000;

Metrics per_store(const Stopwatch& watch, std::uint64_t stores) {
  return {{"ns_per_store", watch.cpu_s() / static_cast<double>(stores) * 1e9},
          {"wall_s", watch.wall_s()},
          {"cpu_s", watch.cpu_s()}};
}

/// `count` old objects, reachable from an array.
void make_old(Mutator& mutator, Heap& heap, const Local<Array<Pair>>& cells) {
  for (std::size_t i = 0; i < cells->length(); ++i) {
    const Ref<Pair> cell = make<Pair>(mutator);
    cells->set(i, cell);
  }
  heap.collect();
}

/// Stores a fresh object into old object i mod count; allocation and collections included.
Metrics fresh_into_old(std::size_t count, std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> cells(mutator, make_array<Pair>(mutator, count));
  make_old(mutator, heap, cells);
  const Stopwatch watch;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < stores; ++i) {
    const Ref<Pair> fresh = make<Pair>(mutator);
    cells->get_unchecked(at)->left = fresh;
    if (++at == count) at = 0;
  }
  return per_store(watch, stores);
}

Metrics old_into_old(std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  constexpr std::size_t kCount = 1000;
  const Local<Array<Pair>> cells(mutator, make_array<Pair>(mutator, kCount));
  make_old(mutator, heap, cells);
  const Stopwatch watch;
  std::size_t at = 1;
  for (std::uint64_t i = 0; i < stores; ++i) {
    cells->get_unchecked(at)->left = cells->get_unchecked(at - 1);
    if (++at == kCount) at = 1;
  }
  return per_store(watch, stores);
}

/// Random stores of fresh objects into an old array of references.
Metrics array_store(std::size_t length, std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> array(mutator, make_array<Pair>(mutator, length));
  heap.collect();
  const Stopwatch watch;
  std::uint64_t random = 12345;
  for (std::uint64_t i = 0; i < stores; ++i) {
    const Ref<Pair> fresh = make<Pair>(mutator);
    array->set_unchecked(random % length, fresh);
    random = (random * 1103515245 + 12345) % (std::uint64_t{1} << 31);
  }
  return per_store(watch, stores);
}

/// Bulk operations on old arrays of old references; the figure is for one reference.
Metrics array_bulk(bool fill, std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  constexpr std::size_t kLength = 10'000;
  const Local<Array<Pair>> source(mutator, make_array<Pair>(mutator, kLength));
  const Local<Array<Pair>> target(mutator, make_array<Pair>(mutator, kLength));
  make_old(mutator, heap, source);
  const std::uint64_t rounds = stores / kLength + 1;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    if (fill) {
      target->fill(0, kLength, source->get_unchecked(i % kLength));
    } else {
      target->copy_from(0, source, 0, kLength);
    }
  }
  return per_store(watch, rounds * kLength);
}

}  // namespace

std::vector<Row> barrier_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultStores;
  return {
      {"fresh-into-old/1", [n] { return fresh_into_old(1, n); }, nullptr},
      {"fresh-into-old/1000", [n] { return fresh_into_old(1000, n); }, nullptr},
      {"fresh-into-old/1000000", [n] { return fresh_into_old(1'000'000, n); }, nullptr},
      {"old-into-old", [n] { return old_into_old(n); }, nullptr},
      {"array-store/100", [n] { return array_store(100, n); }, nullptr},
      {"array-store/10000000", [n] { return array_store(10'000'000, n); }, nullptr},
      {"array-copy", [n] { return array_bulk(false, n); }, nullptr},
      {"array-fill", [n] { return array_bulk(true, n); }, nullptr},
  };
}

}  // namespace fallow::bench
