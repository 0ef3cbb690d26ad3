// The loop of "How fast can the RPython GC allocate?" (PyPy blog, 2025): allocate an object of 16
// bytes, keep the last two, with and without storing into its field.
#include "bench/allocation_row.h"
#include "bench/peers/peers.h"
#include "bench/roofline.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 1'000'000'000;

template <bool Init>
[[gnu::noinline, gnu::aligned(64)]] void live_loop(Mutator& mutator, std::uint64_t n) {
  Ref<Cell> current;
  Ref<Cell> previous;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    if constexpr (Init) {
      current = make<Cell>(mutator, live(previous), static_cast<std::int64_t>(i));
    } else {
      current = make<Cell>(mutator, live(previous));
    }
  }
  keep(current.get());
  keep(previous.get());
}

template <bool Init>
[[gnu::noinline, gnu::aligned(64)]] void local_loop(Mutator& mutator, std::uint64_t n) {
  Local<Cell> current(mutator);
  Local<Cell> previous(mutator);
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    if constexpr (Init) {
      current = make<Cell>(mutator, static_cast<std::int64_t>(i));
    } else {
      current = make<Cell>(mutator);
    }
  }
  keep(current.get().get());
  keep(previous.get().get());
}

template <bool Init>
[[gnu::noinline, gnu::aligned(64)]] void cursor_loop(Mutator& mutator, std::uint64_t n) {
  AllocationCursor cursor(mutator);
  Ref<Cell> current;
  Ref<Cell> previous;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    if constexpr (Init) {
      current = cursor.make<Cell>(live(previous), static_cast<std::int64_t>(i));
    } else {
      current = cursor.make<Cell>(live(previous));
    }
  }
  keep(current.get());
  keep(previous.get());
}

template <auto Loop>
class OnHeap {
 public:
  void run(std::uint64_t n) { Loop(mutator_, n); }

 private:
  Heap heap_;
  Mutator mutator_{heap_, "bench"};
};

template <bool Init>
void add_variant(std::vector<Row>& rows, const std::string& variant, std::uint64_t n) {
  rows.push_back(allocation_row<Roofline<Init, Words::kInMemory>>("roofline/" + variant, n));
  rows.push_back(allocation_row<OnHeap<live_loop<Init>>>("live/" + variant, n));
  rows.push_back(allocation_row<OnHeap<cursor_loop<Init>>>("cursor/" + variant, n));
  rows.push_back(allocation_row<OnHeap<local_loop<Init>>>("local/" + variant, n));
  rows.push_back(allocation_row<Roofline<Init, Words::kPlain>>("roofline-plain/" + variant, n));
}

}  // namespace

Metrics allocation_metrics(const Stopwatch& watch, std::uint64_t n) {
  const double wall = watch.wall_s();
  const double cpu = watch.cpu_s();
  const auto objects = static_cast<double>(n);
  return {{"ns_per_object", cpu / objects * 1e9},
          {"gib_per_s", objects * sizeof(Cell) / (1024.0 * 1024 * 1024) / cpu},
          {"wall_s", wall},
          {"cpu_s", cpu}};
}

std::vector<Row> alloc_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows;
  add_variant<false>(rows, "noinit", n);
  add_variant<true>(rows, "init", n);
  // The others are an order of magnitude slower: fewer objects give the same precision.
  for (Row& row : peer_allocation_rows(n / 10 + 1)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fallow::bench
