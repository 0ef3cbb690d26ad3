#include <fmt/format.h>

#include <algorithm>

#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultStores = 20'000'000;

Metrics per_store(const Stopwatch& watch, std::uint64_t stores) {
  const double wall = watch.wall_s();
  const double cpu = watch.cpu_s();
  return {
      {"ns_per_store", cpu / static_cast<double>(stores) * 1e9}, {"wall_s", wall}, {"cpu_s", cpu}};
}

/// The longest pauses while it exists.
class LongestPause : public EventListener {
 public:
  explicit LongestPause(Heap& heap) : heap_(heap) { heap.add_listener(*this); }
  ~LongestPause() override { heap_.remove_listener(*this); }
  LongestPause(const LongestPause&) = delete;
  LongestPause& operator=(const LongestPause&) = delete;

  void on_minor(const MinorEvent& event) override { ns_ = std::max(ns_, event.wall_ns); }
  void on_full(const FullEvent& event) override { ns_ = std::max(ns_, event.wall_ns); }
  [[nodiscard]] double us() const { return microseconds(ns_); }

 private:
  Heap& heap_;
  std::uint64_t ns_ = 0;
};

/// Fills the array with objects and makes them old.
void fill_with_old(Mutator& mutator, const Local<Array<Pair>>& cells) {
  for (std::size_t i = 0; i < cells->length(); ++i) {
    const Ref<Pair> cell = make<Pair>(mutator);
    cells->set(i, cell);
  }
  mutator.heap().collect();
}

/// Stores a fresh object into old object i mod count; allocation and collections included.
Metrics fresh_into_old(std::size_t count, std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> cells(mutator, make_array<Pair>(mutator, count));
  fill_with_old(mutator, cells);
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
  fill_with_old(mutator, cells);
  const Stopwatch watch;
  std::size_t at = 1;
  for (std::uint64_t i = 0; i < stores; ++i) {
    cells->get_unchecked(at)->left = cells->get_unchecked(at - 1);
    if (++at == kCount) at = 1;
  }
  return per_store(watch, stores);
}

/// Scattered stores of fresh objects into an old array of references; allocation and collections
/// included.
Metrics array_store(std::size_t length, std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  const Local<Array<Pair>> array(mutator, make_array<Pair>(mutator, length));
  fill_with_old(mutator, array);
  const LongestPause pause(heap);
  const Stopwatch watch;
  std::uint64_t random = 12345;
  for (std::uint64_t i = 0; i < stores; ++i) {
    const Ref<Pair> fresh = make<Pair>(mutator);
    array->set_unchecked(random % length, fresh);
    random = (random * 1103515245 + 12345) % (std::uint64_t{1} << 31);
  }
  Metrics metrics = per_store(watch, stores);
  metrics.emplace_back("pause_max_us", pause.us());
  return metrics;
}

/// Bulk operations on old arrays of old references; the figure is for one reference.
Metrics array_bulk(bool fill, std::uint64_t stores) {
  Heap heap;
  Mutator mutator(heap, "bench");
  constexpr std::size_t kLength = 10'000;
  const Local<Array<Pair>> source(mutator, make_array<Pair>(mutator, kLength));
  const Local<Array<Pair>> target(mutator, make_array<Pair>(mutator, kLength));
  fill_with_old(mutator, source);
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
  std::vector<Row> rows;
  for (const std::size_t count : {1, 1000, 1'000'000}) {
    rows.push_back({fmt::format("fallow/fresh-into-old-{}", count),
                    [count, n] { return fresh_into_old(count, n); }, nullptr});
  }
  rows.push_back({"fallow/old-into-old", [n] { return old_into_old(n); }, nullptr});
  for (const std::size_t length : {100, 10'000'000}) {
    rows.push_back({fmt::format("fallow/array-store-{}", length),
                    [length, n] { return array_store(length, n); }, nullptr});
  }
  rows.push_back({"fallow/array-copy", [n] { return array_bulk(false, n); }, nullptr});
  rows.push_back({"fallow/array-fill", [n] { return array_bulk(true, n); }, nullptr});
  return rows;
}

}  // namespace fallow::bench
