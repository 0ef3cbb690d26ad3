#include "bench/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "fallow/errors.h"

namespace fallow::bench {

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  new_and_empty_ = !std::filesystem::exists(std::filesystem::symlink_status(path_, ignored));
  const std::ofstream file(path_, std::ios::app);
  if (!file) throw OptionError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (new_and_empty_) std::filesystem::remove(path_, ignored);
}

void OutputFile::write(const std::string& text) {
  new_and_empty_ = false;
  errno = 0;
  std::ofstream file(path_, std::ios::trunc);
  file << text;
  file.close();
  if (file) return;
  throw std::runtime_error(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

}  // namespace fallow::bench
