#include "profile/record/chunk_file.h"

#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "fallow/profile.h"
#include "profile/format/encoding.h"
#include "profile/record/xxh3.h"

namespace fallow::profile {

namespace {

// Events of calls in a loop resemble each other closely: more effort gains a tenth.
constexpr int kCompressionLevel = 1;
constexpr std::size_t kWriteBytes = std::size_t{256} << 10;
/// Kept free below the limit, for the last chunk.
constexpr std::uint64_t kLastChunkBytes = 512;

FileError::Reason reason_of(int error) {
  switch (error) {
    case EEXIST:
      return FileError::Reason::kExists;
    case EISDIR:
      return FileError::Reason::kDirectory;
    case ENXIO:
      return FileError::Reason::kNoReader;
    case EACCES:
    case EPERM:
    case EROFS:
      return FileError::Reason::kReadOnly;
    case ENOENT:
    case ENOTDIR:
      return FileError::Reason::kNoDirectory;
    default:
      return FileError::Reason::kOther;
  }
}

std::string words_for(int error, const std::string& path) {
  const std::string quoted = "'" + path + "'";
  switch (reason_of(error)) {
    case FileError::Reason::kExists:
      return quoted + " exists already; choose another name or permit replacing it";
    case FileError::Reason::kDirectory:
      return quoted + " is a directory";
    case FileError::Reason::kNoReader:
      return "nobody reads the pipe " + quoted;
    default:
      return "cannot create " + quoted + ": " + std::generic_category().message(error);
  }
}

}  // namespace

struct ChunkFile::Packer {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ~Packer() { ZSTD_freeCCtx(context); }
};

ChunkFile::ChunkFile() = default;
ChunkFile::~ChunkFile() = default;

void ChunkFile::create(const std::string& path, bool overwrite, std::uint64_t max_bytes) {
  if (packer_ == nullptr) packer_ = std::make_unique<Packer>();
  const int error = file_.create(path, overwrite);
  if (error != 0) {
    throw FileError("fallow: " + words_for(error, path), path, reason_of(error));
  }
  path_ = path;
  max_bytes_ = max_bytes;
  pending_.clear();
  pending_.reserve(kWriteBytes * 2);
  sequence_ = kept_sequence_ = 0;
  problem_ = Problem::kNone;
  problem_text_.clear();
}

void ChunkFile::append_chunk(ChunkKind kind, Packing packing, std::uint32_t stream,
                             std::size_t stored, std::size_t bytes) {
  std::uint8_t* const head = pending_.data() + pending_.size() - stored - kChunkHeaderBytes;
  std::memcpy(head, kChunkMagic, sizeof kChunkMagic);
  std::uint8_t* at = head + sizeof kChunkMagic;
  at = put_fixed(at, static_cast<std::uint64_t>(kind), 1);
  at = put_fixed(at, static_cast<std::uint64_t>(packing), 1);
  at = put_fixed(at, 0, 2);
  at = put_fixed(at, sequence_, 4);
  at = put_fixed(at, stream, 4);
  at = put_fixed(at, stored, 4);
  at = put_fixed(at, bytes, 4);
  put_fixed(at, checksum(head, kChunkCheckedBytes, head + kChunkHeaderBytes, stored), 8);
  ++sequence_;
}

void ChunkFile::add(ChunkKind kind, std::uint32_t stream, const std::uint8_t* payload,
                    std::size_t bytes) {
  if (problem_ != Problem::kNone || !file_.is_open()) return;
  const std::size_t start = pending_.size();
  pending_.resize(start + kChunkHeaderBytes + ZSTD_compressBound(bytes));
  std::uint8_t* const stored = pending_.data() + start + kChunkHeaderBytes;
  std::size_t count = bytes;
  Packing packing = Packing::kNone;
  if (kind != ChunkKind::kHeader && packer_->context != nullptr) {
    const std::size_t packed = ZSTD_compressCCtx(
        packer_->context, stored, ZSTD_compressBound(bytes), payload, bytes, kCompressionLevel);
    if (ZSTD_isError(packed) == 0 && packed < bytes) {
      count = packed;
      packing = Packing::kZstd;
    }
  }
  if (packing == Packing::kNone) std::memcpy(stored, payload, bytes);
  if (max_bytes_ != 0 &&
      file_.size() + start + kChunkHeaderBytes + count + kLastChunkBytes > max_bytes_) {
    pending_.resize(start);
    problem_ = Problem::kSizeLimit;
    problem_text_ = "the size limit of '" + path_ + "' is reached";
    return;
  }
  pending_.resize(start + kChunkHeaderBytes + count);
  append_chunk(kind, packing, stream, count, bytes);
  if (pending_.size() >= kWriteBytes) write_pending();
}

void ChunkFile::write_pending() {
  if (pending_.empty() || !file_.is_open()) return;
  const int error = file_.append(pending_.data(), pending_.size());
  pending_.clear();
  if (error == 0) {
    kept_sequence_ = sequence_;
    return;
  }
  sequence_ = kept_sequence_;
  problem_ = Problem::kDisk;
  problem_text_ = "cannot write '" + path_ + "': " + std::generic_category().message(error);
}

void ChunkFile::flush() { write_pending(); }

void ChunkFile::add_last(const std::uint8_t* payload, std::size_t bytes) {
  write_pending();
  if (!file_.is_open()) return;
  pending_.resize(kChunkHeaderBytes + bytes);
  std::memcpy(pending_.data() + kChunkHeaderBytes, payload, bytes);
  append_chunk(ChunkKind::kEvents, Packing::kNone, 0, bytes, bytes);
  const Problem problem = problem_;
  std::string text = problem_text_;
  write_pending();
  if (problem != Problem::kNone) {
    // What ended the recording counts, and not that its end could not be noted either.
    problem_ = problem;
    problem_text_ = std::move(text);
  }
}

void ChunkFile::close() {
  write_pending();
  file_.close();
}

void ChunkFile::abandon() {
  pending_.clear();
  file_.close();
}

std::size_t ChunkFile::memory_bytes() const noexcept {
  const std::size_t packer = packer_ == nullptr ? 0 : ZSTD_sizeof_CCtx(packer_->context);
  return packer + pending_.capacity();
}

}  // namespace fallow::profile
