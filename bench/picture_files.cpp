#include "bench/picture_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "fallow/errors.h"

namespace fallow::bench {

PictureFiles::PictureFiles(const std::vector<Picture>& pictures, const std::string& folder)
    : pictures_(pictures) {
  try {
    for (const Picture& picture : pictures_) {
      files_.emplace_back((std::filesystem::path(folder) / picture.file).string());
    }
  } catch (const OptionError& error) {
    throw BadOption(fmt::format("{}; --output names another folder", error.what()));
  }
}

std::vector<std::string> PictureFiles::write(const std::vector<Measured>& rows) {
  std::vector<std::string> written;
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    files_[i].write(pictures_[i].draw(rows));
    written.push_back(files_[i].path());
  }
  return written;
}

}  // namespace fallow::bench
