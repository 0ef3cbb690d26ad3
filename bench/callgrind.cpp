#include "bench/callgrind.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace fallow::bench {

namespace {

// Enough objects for several nurseries, so that collections have their share.
constexpr std::uint64_t kFewObjects = 1'000'000;
constexpr std::uint64_t kManyObjects = 5'000'000;

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length < 0) throw std::runtime_error("cannot find this executable");
  return {path.data(), static_cast<std::size_t>(length)};
}

/// One word for the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::uint64_t instructions(const std::string& benchmark, const std::string& row,
                           std::uint64_t objects) {
  const std::string command = fmt::format(
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null {} bench {} --work {} --n {} 2>&1",
      quoted(own_path()), quoted(benchmark), quoted(row), objects);
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot start valgrind");
  std::array<char, 512> line{};
  std::uint64_t count = 0;
  std::string last;
  while (std::fgets(line.data(), static_cast<int>(line.size()), output) != nullptr) {
    last = line.data();
    const std::uint64_t found = collected_instructions(last);
    if (found != 0) count = found;
  }
  if (pclose(output) != 0 || count == 0) {
    throw std::runtime_error(
        fmt::format("valgrind could not count the instructions of '{}': {}", row, last));
  }
  return count;
}

}  // namespace

void require_valgrind() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    if (access((std::filesystem::path(folder) / "valgrind").c_str(), X_OK) == 0) return;
  }
  throw std::runtime_error(
      "counting instructions needs valgrind, which is not installed (Debian: apt install "
      "valgrind)");
}

std::uint64_t collected_instructions(std::string_view line) {
  constexpr std::string_view kLabel = "Collected : ";
  const std::size_t found = line.find(kLabel);
  if (found == std::string_view::npos) return 0;
  return std::strtoull(std::string(line.substr(found + kLabel.size())).c_str(), nullptr, 10);
}

double instructions_per_object(const std::string& benchmark, const std::string& row) {
  const std::uint64_t few = instructions(benchmark, row, kFewObjects);
  const std::uint64_t many = instructions(benchmark, row, kManyObjects);
  return (static_cast<double>(many) - static_cast<double>(few)) /
         static_cast<double>(kManyObjects - kFewObjects);
}

}  // namespace fallow::bench
