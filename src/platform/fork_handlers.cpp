#include "platform/fork_handlers.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "platform/fatal.h"

namespace fallow::platform {
namespace {

struct Handlers {
  void (*prepare)();
  void (*parent)();
  void (*child)();
  LockRank rank;
};

// Append-only. No lock is held while handlers run, for a thread may register handlers while it
// holds a lock that a `prepare` handler waits for.
constexpr size_t kCapacity = 64;
std::array<Handlers, kCapacity> table;
std::atomic<size_t> table_size{0};
std::mutex append_mutex;

// The handlers of the fork under way in this thread, in the order of `prepare`.
struct ForkPlan {
  size_t count;
  std::array<unsigned char, kCapacity> order;
};
thread_local constinit ForkPlan plan{};

void run_prepare() {
  plan.count = table_size.load(std::memory_order_acquire);
  for (size_t i = 0; i < plan.count; ++i) {
    plan.order[i] = static_cast<unsigned char>(plan.count - 1 - i);  // last registered first
  }
  const auto lower_rank = [](unsigned char a, unsigned char b) {
    // A total order by rank, then by registration, so that sorting needs no memory.
    return table[a].rank != table[b].rank ? table[a].rank < table[b].rank : a > b;
  };
  std::sort(plan.order.begin(), plan.order.begin() + static_cast<std::ptrdiff_t>(plan.count),
            lower_rank);
  for (size_t i = 0; i < plan.count; ++i) {
    if (const auto prepare = table[plan.order[i]].prepare) prepare();
  }
}

void run_parent() {
  for (size_t i = plan.count; i-- > 0;) {
    if (const auto parent = table[plan.order[i]].parent) parent();
  }
}

void run_child() {
  for (size_t i = plan.count; i-- > 0;) {
    if (const auto child = table[plan.order[i]].child) child();
  }
}

}  // namespace

void on_fork(void (*prepare)(), void (*parent)(), void (*child)(), LockRank rank) {
  const std::lock_guard<std::mutex> lock(append_mutex);
  const size_t size = table_size.load(std::memory_order_relaxed);
  if (size == kCapacity) fatal("on_fork: more than %zu registrations", kCapacity);
  if (size == 0) pthread_atfork(run_prepare, run_parent, run_child);
  table[size] = {prepare, parent, child, rank};
  table_size.store(size + 1, std::memory_order_release);
}

}  // namespace fallow::platform
