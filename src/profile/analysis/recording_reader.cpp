#include "profile/analysis/recording_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <system_error>
#include <utility>

#include "profile/analysis/byte_reader.h"
#include "profile/analysis/definition_decoder.h"
#include "profile/analysis/event_decoder.h"

namespace fallow::profile {
namespace {

// Calls `take` with each record's tag and body until it returns a problem, and returns that.
template <class Take>
std::string each_record(std::span<const std::byte> payload, Take&& take) {
  ByteReader reader(payload);
  while (!reader.at_end()) {
    const std::uint64_t tag = reader.varint();
    const auto body = reader.bytes(reader.varint());
    if (reader.failed()) return "a record reaches beyond its chunk";
    if (std::string problem = take(tag, ByteReader(body)); !problem.empty()) return problem;
  }
  return {};
}

class Reading {
 public:
  Recording take_all(std::istream& file, const ReadProgress& progress) {
    ChunkReader chunks(file);
    read_header(chunks);
    while (auto chunk = chunks.next()) {
      if (std::string problem = take(*chunk); !problem.empty()) {
        recording_.damage = Damage{chunk->offset, std::move(problem)};
        recording_.file_bytes = chunk->offset;
        return std::move(recording_);
      }
      ++recording_.chunks;
      if (progress) progress(chunks.sound_bytes());
    }
    recording_.damage = chunks.damage();
    recording_.file_bytes = chunks.sound_bytes();
    return std::move(recording_);
  }

 private:
  void read_header(ChunkReader& chunks) {
    const auto header = chunks.next();
    if (!header) {
      throw NotARecording(fmt::format("this is no recording of fallow: {}",
                                      chunks.damage() ? chunks.damage()->reason : "it is empty"));
    }
    if (header->kind != ChunkKind::kHeader) {
      throw NotARecording("this is no recording of fallow: its first chunk is no header");
    }
    const std::string problem = take(*header);
    if (!problem.empty()) throw NotARecording("the recording has a damaged header: " + problem);
    if (version_ == 0) throw NotARecording("the recording does not say its version");
    ++recording_.chunks;
  }

  std::string take(const Chunk& chunk) {
    switch (chunk.kind) {
      case ChunkKind::kHeader:
        return each_record(chunk.payload, [this](std::uint64_t tag, ByteReader body) {
          return header_record(tag, body);
        });
      case ChunkKind::kDefinitions:
        return each_record(chunk.payload, [this](std::uint64_t tag, ByteReader body) {
          return definitions_.decode(tag, body);
        });
      case ChunkKind::kEvents: {
        EventDecoder events(recording_, chunk.stream);
        return each_record(chunk.payload, [&events](std::uint64_t tag, ByteReader body) {
          return events.decode(tag, body);
        });
      }
    }
    return {};  // of a later version, which may add kinds
  }

  std::string header_record(std::uint64_t tag, ByteReader body) {
    if (tag == static_cast<std::uint64_t>(HeaderTag::kVersion)) {
      version_ = body.varint();
      if (version_ > kRecordingVersion) {
        throw NotARecording(fmt::format("the recording is of version {}; this fallow reads {}",
                                        version_, kRecordingVersion));
      }
    } else if (tag == static_cast<std::uint64_t>(HeaderTag::kMeta)) {
      std::string key(body.text());
      std::string value(body.text());
      if (!body.failed()) recording_.meta[std::move(key)] = std::move(value);
    }
    return body.failed() ? "a record of the header is cut short" : "";
  }

  Recording recording_;
  DefinitionDecoder definitions_{recording_.definitions};
  std::uint64_t version_ = 0;
};

}  // namespace

std::string Recording::meta_value(const std::string& key) const {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

std::uint64_t Recording::meta_number(const std::string& key) const {
  const std::string value = meta_value(key);
  std::uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

Recording read_recording(std::istream& file, const ReadProgress& progress) {
  return Reading().take_all(file, progress);
}

Recording read_recording_file(const std::string& path, const ReadProgress& progress) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  // A folder can be opened, and nothing can be read from it.
  file.peek();
  if (file.bad()) throw std::system_error(EISDIR, std::generic_category(), path);
  file.clear();
  return read_recording(file, progress);
}

}  // namespace fallow::profile
