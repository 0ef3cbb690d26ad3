#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profile/format/recording_format.h"

struct ZSTD_DCtx_s;

namespace fallow::profile {

/// Why and where reading stopped before the end of the file.
struct Damage {
  std::uint64_t offset = 0;  ///< of the first chunk that was not used: a file cut here is sound
  std::string reason;
};

/// A chunk whose checksum was right. The payload lives until the next one is read.
struct Chunk {
  std::uint64_t offset = 0;  ///< of its first byte in the file
  ChunkKind kind = ChunkKind::kHeader;
  std::uint32_t stream = 0;
  std::span<const std::byte> payload;  ///< unpacked
};

/// Takes chunks from a file one after the other, as long as they are whole, sound and in order.
/// Holds one chunk at a time, which is at most 4 MiB and some, whatever the file says.
/// Not thread-safe.
class ChunkReader {
 public:
  /// The stream must outlive the reader and stand at the beginning of the recording.
  explicit ChunkReader(std::istream& file);
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;

  /// Nothing at the end of the file, and where it is damaged: see damage().
  std::optional<Chunk> next();

  [[nodiscard]] const std::optional<Damage>& damage() const { return damage_; }
  /// The bytes up to the end of the last chunk that was given out.
  [[nodiscard]] std::uint64_t sound_bytes() const { return offset_; }

 private:
  std::optional<Chunk> stop(std::string reason);
  bool read(std::vector<std::byte>& into, std::size_t bytes);
  std::optional<std::span<const std::byte>> unpack(Packing packing, std::size_t unpacked_bytes);

  struct ContextDeleter {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::istream& file_;
  std::unique_ptr<ZSTD_DCtx_s, ContextDeleter> zstd_;
  std::uint64_t offset_ = 0;
  std::uint32_t next_number_ = 0;
  bool ended_ = false;
  std::optional<Damage> damage_;
  std::vector<std::byte> header_;
  std::vector<std::byte> stored_;
  std::vector<std::byte> unpacked_;
};

}  // namespace fallow::profile
