#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/append_file.h"
#include "profile/format/recording_format.h"

namespace fallow::profile {

/// Packs chunks and appends them to the file of a recording.
///
/// Not thread-safe. Errors: problem() says why nothing is written any more; the chunks written
/// before stay whole.
class ChunkFile {
 public:
  enum class Problem : std::uint8_t { kNone, kDisk, kSizeLimit };

  ChunkFile();
  ~ChunkFile();
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;

  /// Throws FileError. `max_bytes` 0: no limit.
  void create(const std::string& path, bool overwrite, std::uint64_t max_bytes);
  /// Adds a chunk to those that the next flush() writes. A header is never packed.
  void add(ChunkKind kind, std::uint32_t stream, const std::uint8_t* payload, std::size_t bytes);
  /// Writes what has been added. What does not fit any more is dropped whole.
  void flush();
  /// The last chunk: written even at the limit, and tried on a full disk.
  void add_last(const std::uint8_t* payload, std::size_t bytes);
  void close();
  /// In the child of a fork: what is not written belongs to the parent.
  void abandon();

  [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }
  [[nodiscard]] Problem problem() const noexcept { return problem_; }
  /// Why, for people; empty without a problem.
  [[nodiscard]] const std::string& problem_text() const noexcept { return problem_text_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return file_.size() + pending_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct Packer;

  void write_pending();
  void append_chunk(ChunkKind kind, Packing packing, std::uint32_t stream, std::size_t stored,
                    std::size_t bytes);

  std::unique_ptr<Packer> packer_;
  platform::AppendFile file_;
  std::string path_;
  std::vector<std::uint8_t> pending_;
  std::uint32_t sequence_ = 0;       // of the next chunk
  std::uint32_t kept_sequence_ = 0;  // of the first pending one
  std::uint64_t max_bytes_ = 0;
  Problem problem_ = Problem::kNone;
  std::string problem_text_;
};

}  // namespace fallow::profile
