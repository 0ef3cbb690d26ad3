#include "tools/fallow/default_directories.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace fallow::tool {
namespace {

namespace fs = std::filesystem;

// The 11 of "python3.11".
std::optional<unsigned> minor_version(std::string_view name) {
  constexpr std::string_view kPrefix = "python3.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  unsigned minor = 0;
  const auto [stopped, error] = std::from_chars(name.data() + kPrefix.size(), end, minor);
  if (error != std::errc()) return std::nullopt;
  return minor;
}

// The newest standard library in parent/python3.x. Python itself knows the place by os.py.
std::optional<std::string> newest_library(const fs::path& parent) {
  std::optional<std::string> newest;
  unsigned newest_minor = 0;
  std::error_code error;
  for (fs::directory_iterator next(parent, error); !error && next != fs::directory_iterator();
       next.increment(error)) {
    const std::optional<unsigned> minor = minor_version(next->path().filename().string());
    std::error_code ignored;
    if (!minor || (newest && *minor < newest_minor)) continue;
    if (!fs::is_regular_file(next->path() / "os.py", ignored)) continue;
    newest = next->path().string();
    newest_minor = *minor;
  }
  return newest;
}

// The library beside an installed interpreter: PREFIX/bin/python3 has PREFIX/lib/python3.x.
std::optional<std::string> library_of_interpreter(const fs::path& interpreter) {
  std::error_code error;
  const fs::path program = fs::canonical(interpreter, error);
  if (error) return std::nullopt;
  const fs::path prefix = program.parent_path().parent_path();
  for (const char* const library : {"lib", "lib64"}) {
    if (std::optional<std::string> found = newest_library(prefix / library)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> default_directories(const DefaultPlaces& places) {
  for (const std::string& parent : places.library_parents) {
    if (std::optional<std::string> found = newest_library(parent)) return {*found};
  }
  std::string_view rest = places.path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    if (directory.empty()) continue;
    if (auto found = library_of_interpreter(fs::path(directory) / "python3")) return {*found};
  }
  std::vector<std::string> existing;
  for (const std::string& fallback : places.fallbacks) {
    std::error_code ignored;
    if (fs::is_directory(fallback, ignored)) existing.push_back(fallback);
  }
  return existing;
}

}  // namespace fallow::tool
