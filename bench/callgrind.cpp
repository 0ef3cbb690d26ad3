#include "bench/callgrind.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace fallow::bench {

namespace {

constexpr std::uint64_t kFewObjects = 200'000;
constexpr std::uint64_t kManyObjects = 2'200'000;

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length < 0) throw std::runtime_error("cannot find this executable");
  return {path.data(), static_cast<std::size_t>(length)};
}

/// Callgrind ends with a line "Collected : N".
std::uint64_t instructions(const std::string& benchmark, const std::string& row,
                           std::uint64_t objects) {
  const std::string command = "valgrind --tool=callgrind --callgrind-out-file=/dev/null '" +
                              own_path() + "' bench " + benchmark + " --work '" + row + "' --n " +
                              std::to_string(objects) + " 2>&1";
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot start valgrind");
  std::array<char, 512> line{};
  std::uint64_t count = 0;
  std::string last;
  while (std::fgets(line.data(), static_cast<int>(line.size()), output) != nullptr) {
    last = line.data();
    const char* const found = std::strstr(line.data(), "Collected : ");
    if (found != nullptr) count = std::strtoull(found + std::strlen("Collected : "), nullptr, 10);
  }
  if (pclose(output) != 0 || count == 0) {
    throw std::runtime_error("valgrind did not count instructions (is it installed?): " + last);
  }
  return count;
}

}  // namespace

double instructions_per_object(const std::string& benchmark, const std::string& row) {
  const std::uint64_t few = instructions(benchmark, row, kFewObjects);
  const std::uint64_t many = instructions(benchmark, row, kManyObjects);
  return static_cast<double>(many - few) / static_cast<double>(kManyObjects - kFewObjects);
}

}  // namespace fallow::bench
