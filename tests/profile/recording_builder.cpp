#include "tests/profile/recording_builder.h"

#include <xxhash.h>
#include <zstd.h>

#include <fstream>
#include <stdexcept>

namespace fallow::test {

using profile::DefinitionTag;
using profile::EventTag;

Bytes& Bytes::fixed(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xFF);
  return *this;
}

Bytes& Bytes::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
  return *this;
}

Bytes& Bytes::signed_varint(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return varint(value < 0 ? ~(bits << 1) : bits << 1);
}

Bytes& Bytes::raw(std::string_view text) {
  bytes_ += text;
  return *this;
}

Bytes& Bytes::record(std::uint64_t tag, const Bytes& body) {
  return varint(tag).text(body.string());
}

RecordingBuilder::RecordingBuilder(profile::Packing packing) : packing_(packing) {
  header_.record(1, Bytes().varint(profile::kRecordingVersion));
}

void RecordingBuilder::meta(std::string_view key, std::string_view value) {
  header_.record(2, Bytes().text(key).text(value));
}

void RecordingBuilder::definition(std::uint64_t tag, const Bytes& body) {
  definitions_.record(tag, body);
  if (definitions_.string().size() > 1'000'000) flush();
}

std::uint32_t RecordingBuilder::string(std::string_view text) {
  const auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(strings_.size() + 1);
  strings_.emplace(text, number);
  definition(static_cast<std::uint64_t>(DefinitionTag::kString), Bytes().varint(number).raw(text));
  return number;
}

std::uint32_t RecordingBuilder::module(std::string_view path, std::string_view build_id,
                                       std::uint64_t start, std::uint64_t end, std::uint64_t bias) {
  const std::uint32_t path_number = string(path);
  const std::uint32_t id_number = build_id.empty() ? 0 : string(build_id);
  definition(static_cast<std::uint64_t>(DefinitionTag::kModule), Bytes()
                                                                     .varint(++modules_)
                                                                     .varint(path_number)
                                                                     .varint(id_number)
                                                                     .varint(start)
                                                                     .varint(end)
                                                                     .varint(bias));
  return modules_;
}

std::uint32_t RecordingBuilder::function(
    std::string_view name, std::string_view file, std::uint64_t first_line,
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& lines) {
  const std::uint32_t name_number = string(name);
  const std::uint32_t file_number = file.empty() ? 0 : string(file);
  Bytes body;
  body.varint(++functions_).varint(name_number).varint(file_number).varint(first_line);
  body.varint(lines.size());
  for (const auto& [position, line] : lines) body.varint(position).varint(line);
  definition(static_cast<std::uint64_t>(DefinitionTag::kFunction), body);
  return functions_;
}

std::uint32_t RecordingBuilder::node(std::uint32_t parent, profile::NodeKind kind,
                                     std::uint64_t value, std::uint64_t detail) {
  definition(static_cast<std::uint64_t>(DefinitionTag::kNode),
             Bytes()
                 .varint(++nodes_)
                 .varint(parent)
                 .varint(static_cast<std::uint64_t>(kind))
                 .varint(value)
                 .varint(detail));
  return nodes_;
}

std::uint32_t RecordingBuilder::frame(std::uint32_t parent, std::string_view name) {
  return node(parent, profile::NodeKind::kEmbedded, function(name, "program.lang", 1));
}

std::uint32_t RecordingBuilder::type(std::string_view name) {
  const std::uint32_t name_number = string(name);
  definition(static_cast<std::uint64_t>(DefinitionTag::kType),
             Bytes().varint(++types_).varint(name_number));
  return types_;
}

std::uint32_t RecordingBuilder::code(std::string_view name, std::uint64_t start,
                                     std::uint64_t bytes) {
  const std::uint32_t name_number = string(name);
  definition(static_cast<std::uint64_t>(DefinitionTag::kCode),
             Bytes().varint(++codes_).varint(start).varint(bytes).varint(name_number).varint(0));
  return codes_;
}

std::uint32_t RecordingBuilder::epoch(std::uint64_t interval_bytes, std::int64_t time_ns) {
  definition(static_cast<std::uint64_t>(DefinitionTag::kEpoch),
             Bytes().varint(++epochs_).varint(interval_bytes).signed_varint(time_ns));
  return epochs_;
}

void RecordingBuilder::thread(std::uint32_t stream, std::uint64_t id, std::string_view name) {
  const std::uint32_t name_number = string(name);
  definition(static_cast<std::uint64_t>(DefinitionTag::kThread),
             Bytes().varint(stream).varint(id).varint(name_number).signed_varint(0));
}

void RecordingBuilder::event(std::uint32_t stream, std::int64_t time_ns, std::uint64_t tag,
                             const Bytes& body) {
  OpenChunk& open = events_[stream];
  Bytes whole;
  whole.signed_varint(time_ns - open.time_ns).raw(body.string());
  open.time_ns = time_ns;
  open.payload.record(tag, whole);
  if (open.payload.string().size() > 60'000) flush();
}

void RecordingBuilder::sample(std::uint32_t stream, std::int64_t time_ns,
                              const BuiltSample& sample) {
  event(stream, time_ns, static_cast<std::uint64_t>(EventTag::kSample),
        Bytes()
            .varint(sample.sequence)
            .varint(sample.node)
            .varint(sample.bytes)
            .varint(sample.epoch)
            .varint(sample.route)
            .varint(sample.type));
}

void RecordingBuilder::minor(std::int64_t time_ns, std::uint64_t number,
                             const std::vector<BuiltFate>& fates) {
  Bytes body;
  body.varint(1).varint(number).varint(fates.size());
  for (const BuiltFate& fate : fates) {
    body.varint(fate.stream).varint(fate.sequence);
    body.varint(std::uint64_t{fate.type} * 4 + static_cast<std::uint64_t>(fate.outcome));
  }
  event(0, time_ns, static_cast<std::uint64_t>(EventTag::kMinor), body);
}

void RecordingBuilder::died(std::int64_t time_ns, std::uint64_t number,
                            const std::vector<std::pair<std::uint32_t, std::uint64_t>>& samples) {
  Bytes body;
  body.varint(number == 0 ? 0 : 1).varint(number).varint(samples.size());
  for (const auto& [stream, sequence] : samples) body.varint(stream).varint(sequence);
  event(0, time_ns, static_cast<std::uint64_t>(EventTag::kDied), body);
}

void RecordingBuilder::pause(std::int64_t time_ns, const BuiltPause& pause) {
  Bytes body;
  body.varint(1).varint(static_cast<std::uint64_t>(pause.kind)).varint(pause.wall_ns);
  body.varint(pause.wall_ns / 2).varint(pause.number).varint(pause.before).varint(pause.after);
  if (pause.kind == profile::PauseKind::kStep) body.varint(1).varint(2);
  event(0, time_ns, static_cast<std::uint64_t>(EventTag::kPause), body);
}

void RecordingBuilder::level(std::int64_t time_ns, std::uint64_t heap, std::uint64_t used,
                             std::uint64_t committed, std::uint64_t resident) {
  event(0, time_ns, static_cast<std::uint64_t>(EventTag::kLevel),
        Bytes().varint(heap).varint(used).varint(committed).varint(resident));
}

void RecordingBuilder::lost(std::int64_t time_ns, std::uint64_t count, std::uint64_t bytes,
                            std::uint64_t objects, profile::LossReason reason) {
  event(0, time_ns, static_cast<std::uint64_t>(EventTag::kLost),
        Bytes().varint(count).varint(bytes).varint(objects).varint(
            static_cast<std::uint64_t>(reason)));
}

void RecordingBuilder::time(std::uint32_t stream, std::int64_t time_ns, std::uint32_t node,
                            std::uint64_t ns, std::uint64_t state) {
  event(stream, time_ns, static_cast<std::uint64_t>(EventTag::kTime),
        Bytes().varint(node).varint(ns).varint(state));
}

void RecordingBuilder::end(std::int64_t time_ns, profile::EndReason reason) {
  event(0, time_ns, static_cast<std::uint64_t>(EventTag::kEnd),
        Bytes().varint(static_cast<std::uint64_t>(reason)));
}

void RecordingBuilder::chunk(std::uint8_t kind, std::uint32_t stream, const std::string& payload) {
  std::string stored = payload;
  auto packing = profile::Packing::kNone;
  if (packing_ == profile::Packing::kZstd && kind != 1) {
    packing = profile::Packing::kZstd;
    stored.resize(ZSTD_compressBound(payload.size()));
    stored.resize(ZSTD_compress(stored.data(), stored.size(), payload.data(), payload.size(), 1));
  }
  Bytes head;
  head.raw({profile::kChunkMagic, sizeof profile::kChunkMagic});
  head.raw({reinterpret_cast<const char*>(&kind), 1});
  head.raw({reinterpret_cast<const char*>(&packing), 1}).u16(0);
  head.u32(next_chunk_++).u32(stream);
  head.u32(static_cast<std::uint32_t>(stored.size()));
  head.u32(static_cast<std::uint32_t>(payload.size()));
  const std::string checked = head.string() + stored;
  head.u64(XXH3_64bits(checked.data(), checked.size()));
  file_ += head.string() + stored;
}

void RecordingBuilder::flush() {
  if (!header_written_) {
    header_written_ = true;
    chunk(static_cast<std::uint8_t>(profile::ChunkKind::kHeader), 0, header_.string());
  }
  if (!definitions_.string().empty()) {
    chunk(static_cast<std::uint8_t>(profile::ChunkKind::kDefinitions), 0, definitions_.string());
    definitions_ = Bytes();
  }
  for (const auto& [stream, open] : events_) {
    chunk(static_cast<std::uint8_t>(profile::ChunkKind::kEvents), stream, open.payload.string());
  }
  events_.clear();
}

const std::string& RecordingBuilder::file() {
  flush();
  return file_;
}

void RecordingBuilder::write(const std::string& path) {
  std::ofstream stream(path, std::ios::binary);
  stream << file();
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace fallow::test
