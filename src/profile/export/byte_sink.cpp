#include "profile/export/byte_sink.h"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace fallow::profile {
namespace {

bool is_special(const std::string& path) {
  std::error_code missing;
  const auto status = std::filesystem::status(path, missing);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

FileSink::FileSink(std::string path)
    : path_(std::move(path)),
      written_path_(is_special(path_) ? path_ : path_ + ".part" + std::to_string(getpid())),
      file_(std::fopen(written_path_.c_str(), "wb")) {
  if (file_ == nullptr) fail();
}

FileSink::~FileSink() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (written_path_ != path_) std::remove(written_path_.c_str());
}

void FileSink::fail() const {
  throw std::system_error(errno, std::generic_category(), "cannot write '" + path_ + "'");
}

void FileSink::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void FileSink::finish() {
  if (std::fflush(file_) != 0) fail();
  std::fclose(std::exchange(file_, nullptr));
  if (written_path_ == path_) return;
  if (std::rename(written_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    std::remove(written_path_.c_str());
    errno = error;
    fail();
  }
}

GzipSink::GzipSink(ByteSink& to) : to_(to), stream_(std::make_unique<z_stream_s>()) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 9;
  if (deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipSink::~GzipSink() { deflateEnd(stream_.get()); }

void GzipSink::write(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMost))) {
    const std::string_view piece = bytes.substr(0, kMost);
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_->avail_in = static_cast<uInt>(piece.size());
    deflate_all(Z_NO_FLUSH);
  }
}

void GzipSink::finish() {
  stream_->next_in = nullptr;
  stream_->avail_in = 0;
  deflate_all(Z_FINISH);
  to_.finish();
}

void GzipSink::deflate_all(int flush) {
  std::array<char, 64 << 10> packed;
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(packed.data());
    stream_->avail_out = static_cast<uInt>(packed.size());
    if (deflate(stream_.get(), flush) == Z_STREAM_ERROR) throw std::runtime_error("deflate failed");
    to_.write({packed.data(), packed.size() - stream_->avail_out});
  } while (stream_->avail_out == 0);
}

}  // namespace fallow::profile
