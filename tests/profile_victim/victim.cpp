// A program that knows nothing of fallow, with allocations that are known exactly.
//
//   victim plain   100,000 blocks of 200 bytes freed at once, 1,000 blocks of 4 KiB kept
//   victim fork    the same, with a child by fork that allocates and leaves by return
//   victim vfork   the same, with a child by posix_spawn
//   victim threads eight threads that free each other's blocks
//   victim forever allocates until it is killed
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

[[gnu::noinline]] void free_at_once(int count) {
  for (int i = 0; i < count; ++i) {
    char* const block = new char[200];
    std::memset(block, i, 200);
    delete[] block;
  }
}

[[gnu::noinline]] std::vector<void*> keep(int count) {
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(std::malloc(4096));
  return blocks;
}

void exchange_between_threads() {
  std::mutex mutex;
  std::vector<void*> shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20'000; ++round) {
        void* const block = std::realloc(std::malloc(64), 128);
        void* other = nullptr;
        {
          const std::lock_guard<std::mutex> lock(mutex);
          shared.push_back(block);
          std::swap(shared[static_cast<std::size_t>(round) % shared.size()], shared.back());
          other = shared.back();
          shared.pop_back();
        }
        std::free(other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "plain";
  if (mode == "forever") {
    for (;;) free_at_once(1000);
  }
  free_at_once(100'000);
  const std::vector<void*> kept = keep(1000);
  if (mode == "threads") exchange_between_threads();
  if (mode == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      free_at_once(100'000);
      return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    free_at_once(100'000);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 9;
  }
  if (mode == "vfork") {
    char program[] = "/bin/true";
    char* const arguments[] = {program, nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0) return 8;
    int status = 0;
    waitpid(child, &status, 0);
  }
  return kept.size() == 1000 ? 0 : 7;
}
