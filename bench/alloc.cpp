// The loop of "How fast can the RPython GC allocate?" (PyPy blog, 2025): allocate an object of 16
// bytes, keep the last two, with and without storing into its field.
#include <cstdlib>
#include <memory>

#include "bench/peers/peers.h"
#include "bench/stopwatch.h"
#include "bench/types.h"

namespace fallow::bench {

namespace {

constexpr std::uint64_t kDefaultObjects = 1'000'000'000;

/// What a C programmer writes: free and top in memory, start again at the base when full.
struct BumpBuffer {
  char* free;
  char* top;
  char* base;
};

[[gnu::noinline, gnu::cold]] char* restart(BumpBuffer& buffer) {
  buffer.free = buffer.base;
  return buffer.base;
}

struct PlainCell {
  const void* header;
  std::int64_t value;
};

template <bool Init>
[[gnu::noinline, gnu::aligned(64)]] void roofline_loop(BumpBuffer& buffer, std::uint64_t n) {
  PlainCell* current = nullptr;
  PlainCell* previous = nullptr;
  for (std::uint64_t i = 0; i < n; ++i) {
    previous = current;
    char* start = buffer.free;
    char* const next = start + sizeof(PlainCell);
    if (next > buffer.top) [[unlikely]] {
      start = restart(buffer);
      buffer.free = start + sizeof(PlainCell);
    } else {
      buffer.free = next;
    }
    current = reinterpret_cast<PlainCell*>(start);
    current->header = &descriptor_of<Cell>();
    if constexpr (Init) current->value = static_cast<std::int64_t>(i);
  }
  keep(current);
  keep(previous);
}

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

template <bool Init>
void roofline(std::uint64_t n) {
  // As large as the default nursery, so that both touch the same amount of memory.
  const std::size_t bytes = Heap().options().nursery_bytes;
  void* const memory = std::aligned_alloc(4096, bytes);
  auto* const base = static_cast<char*>(memory);
  BumpBuffer buffer{base, base + bytes, base};
  roofline_loop<Init>(buffer, n);
  std::free(memory);
}

template <auto Loop>
void on_heap(std::uint64_t n) {
  Heap heap;
  Mutator mutator(heap, "bench");
  Loop(mutator, n);
}

}  // namespace

Row allocation_row(const std::string& name, std::uint64_t n, void (*work)(std::uint64_t)) {
  return {name,
          [work, n] {
            work(n / 64);  // first touch of memory and caches
            const Stopwatch watch;
            work(n);
            const double wall = watch.wall_s();
            const double cpu = watch.cpu_s();
            const auto objects = static_cast<double>(n);
            return Metrics{{"ns_per_object", cpu / objects * 1e9},
                           {"gib_per_s", objects * 16 / (1024.0 * 1024 * 1024) / cpu},
                           {"wall_s", wall},
                           {"cpu_s", cpu}};
          },
          work};
}

std::vector<Row> alloc_rows(const Options& options) {
  const std::uint64_t n = options.n != 0 ? options.n : kDefaultObjects;
  std::vector<Row> rows = {
      allocation_row("roofline/noinit", n, roofline<false>),
      allocation_row("live/noinit", n, on_heap<live_loop<false>>),
      allocation_row("cursor/noinit", n, on_heap<cursor_loop<false>>),
      allocation_row("local/noinit", n, on_heap<local_loop<false>>),
      allocation_row("roofline/init", n, roofline<true>),
      allocation_row("live/init", n, on_heap<live_loop<true>>),
      allocation_row("cursor/init", n, on_heap<cursor_loop<true>>),
      allocation_row("local/init", n, on_heap<local_loop<true>>),
  };
  // The others are an order of magnitude slower: fewer objects give the same precision.
  for (Row& row : peer_allocation_rows(n / 10 + 1)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fallow::bench
