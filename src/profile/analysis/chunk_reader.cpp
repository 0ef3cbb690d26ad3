#include "profile/analysis/chunk_reader.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <cstring>
#include <new>
#include <utility>

#include "profile/analysis/byte_reader.h"

namespace fallow::profile {
namespace {

// Of a frame that does not become smaller: zstd's own bound for 4 MiB is less.
constexpr std::size_t kMaxStoredBytes = kMaxPayloadBytes + (std::size_t{64} << 10);

std::uint64_t checksum(std::span<const std::byte> header, std::span<const std::byte> stored) {
  XXH3_state_t* const state = XXH3_createState();
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state);
  XXH3_64bits_update(state, header.data(), kChunkCheckedBytes);
  XXH3_64bits_update(state, stored.data(), stored.size());
  const std::uint64_t sum = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return sum;
}

}  // namespace

void ChunkReader::ContextDeleter::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ChunkReader::ChunkReader(std::istream& file) : file_(file), zstd_(ZSTD_createDCtx()) {
  if (zstd_ == nullptr) throw std::bad_alloc();
}

ChunkReader::~ChunkReader() = default;

std::optional<Chunk> ChunkReader::stop(std::string reason) {
  ended_ = true;
  damage_ = Damage{offset_, std::move(reason)};
  return std::nullopt;
}

bool ChunkReader::read(std::vector<std::byte>& into, std::size_t bytes) {
  into.resize(bytes);
  file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(bytes));
  into.resize(static_cast<std::size_t>(file_.gcount()));
  return into.size() == bytes;
}

std::optional<std::span<const std::byte>> ChunkReader::unpack(Packing packing,
                                                              std::size_t unpacked_bytes) {
  if (packing == Packing::kNone) {
    if (stored_.size() != unpacked_bytes) return std::nullopt;
    return std::span<const std::byte>(stored_);
  }
  unpacked_.resize(unpacked_bytes);
  const std::size_t written = ZSTD_decompressDCtx(zstd_.get(), unpacked_.data(), unpacked_.size(),
                                                  stored_.data(), stored_.size());
  if (ZSTD_isError(written) != 0U || written != unpacked_bytes) return std::nullopt;
  return std::span<const std::byte>(unpacked_);
}

std::optional<Chunk> ChunkReader::next() {
  if (ended_) return std::nullopt;
  if (!read(header_, kChunkHeaderBytes)) {
    if (!header_.empty()) return stop("the file ends inside the head of a chunk");
    ended_ = true;
    return std::nullopt;
  }
  if (std::memcmp(header_.data(), kChunkMagic, sizeof kChunkMagic) != 0) {
    return stop("no chunk begins here");
  }
  const auto kind = static_cast<std::uint8_t>(header_[4]);
  const auto packing = static_cast<std::uint8_t>(header_[5]);
  const auto number = load_little_endian<std::uint32_t>(header_, 8);
  const auto stored_bytes = load_little_endian<std::uint32_t>(header_, 16);
  const auto unpacked_bytes = load_little_endian<std::uint32_t>(header_, 20);
  if (stored_bytes > kMaxStoredBytes || unpacked_bytes > kMaxPayloadBytes) {
    return stop("a chunk claims to be larger than any may be");
  }
  if (!read(stored_, stored_bytes)) return stop("the file ends inside a chunk");
  if (checksum(header_, stored_) != load_little_endian<std::uint64_t>(header_, 24)) {
    return stop("a chunk's checksum is wrong");
  }
  if (number != next_number_) {
    return stop(fmt::format("chunk {} follows where {} should", number, next_number_));
  }
  if (packing > static_cast<std::uint8_t>(Packing::kZstd)) {
    return stop(fmt::format("a chunk is packed in an unknown way ({})", packing));
  }
  const auto payload = unpack(static_cast<Packing>(packing), unpacked_bytes);
  if (!payload) return stop("a chunk cannot be unpacked");
  Chunk chunk{offset_, static_cast<ChunkKind>(kind), load_little_endian<std::uint32_t>(header_, 12),
              *payload};
  ++next_number_;
  offset_ += kChunkHeaderBytes + stored_bytes;
  return chunk;
}

}  // namespace fallow::profile
