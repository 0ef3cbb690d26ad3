// Reads the text files below directories into memory.
//
// Nothing that lies there is fatal: what cannot be read, or is no text, is counted. Symbolic links
// are counted and not followed (but a starting directory may be one), so loops end nowhere. The
// order is the same in every run: by name, the files of a directory before its subdirectories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fallow::tool {

struct TextFile {
  std::string path;
  std::string text;
};

struct TextFiles {
  std::vector<TextFile> files;
  std::uint64_t bytes = 0;         // of all texts together
  std::uint64_t empty = 0;         // files without content
  std::uint64_t binary = 0;        // a NUL in the first 8 KiB, or not UTF-8
  std::uint64_t unreadable = 0;    // files and directories that the system refused
  std::uint64_t links = 0;         // symbolic links
  std::uint64_t special = 0;       // pipes, sockets, devices
  std::uint64_t beyond_limit = 0;  // files left out because of ReadOptions::max_bytes
};

struct ReadOptions {
  // A file that would lead beyond this sum is left out; later, smaller ones may still fit.
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  // Names of directories that are not entered.
  std::vector<std::string> skipped_directories;
  // Called now and then with the state so far.
  std::function<void(const TextFiles&)> progress;
};

// Why `directory` cannot be read, such as "'x' is not a directory"; empty if it can.
std::string directory_problem(const std::string& directory);

TextFiles read_text_files(const std::vector<std::string>& directories, const ReadOptions& options);

// Whether `text` counts as text: no NUL in its first 8 KiB, and valid UTF-8.
bool is_text(std::string_view text);

}  // namespace fallow::tool
