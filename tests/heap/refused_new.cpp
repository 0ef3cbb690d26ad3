#include "tests/heap/refused_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace fallow::test {

namespace {
constinit std::atomic<int> g_refusing{0};
constinit std::atomic<int> g_permitted{0};
constinit std::atomic<int> g_refused{0};
}  // namespace

void* allocate_or_refuse(std::size_t bytes) {
  if (g_refusing.load() != 0 && g_permitted.fetch_sub(1) <= 0) {
    g_refused.fetch_add(1);
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

NewRefused::NewRefused(int permitted) noexcept {
  g_permitted.store(permitted);
  g_refusing.fetch_add(1);
}
NewRefused::~NewRefused() { g_refusing.fetch_sub(1); }
int NewRefused::count() noexcept { return g_refused.load(); }

}  // namespace fallow::test
