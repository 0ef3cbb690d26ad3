// Writes recordings for the tests of what reads them, as docs/recording.md says and with no code of
// the recorder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/format/recording_format.h"

namespace fallow::test {

/// Bytes in the coding of a recording.
class Bytes {
 public:
  Bytes& u16(std::uint16_t value) { return fixed(value, 2); }
  Bytes& u32(std::uint32_t value) { return fixed(value, 4); }
  Bytes& u64(std::uint64_t value) { return fixed(value, 8); }
  Bytes& varint(std::uint64_t value);
  Bytes& signed_varint(std::int64_t value);
  Bytes& raw(std::string_view text);
  Bytes& text(std::string_view text) { return varint(text.size()).raw(text); }
  /// Tag, length and body of a record.
  Bytes& record(std::uint64_t tag, const Bytes& body);

  [[nodiscard]] const std::string& string() const { return bytes_; }

 private:
  Bytes& fixed(std::uint64_t value, int bytes);
  std::string bytes_;
};

struct BuiltSample {
  std::uint64_t sequence = 0;
  std::uint32_t node = 0;
  std::uint64_t bytes = 0;
  std::uint32_t epoch = 1;
  std::uint64_t route = 0;
  std::uint32_t type = 0;
};

struct BuiltFate {
  std::uint32_t stream = 0;
  std::uint64_t sequence = 0;
  std::uint32_t type = 0;
  profile::SettledOutcome outcome = profile::SettledOutcome::kDied;
};

struct BuiltPause {
  profile::PauseKind kind = profile::PauseKind::kMinor;
  std::uint64_t wall_ns = 0;
  std::uint64_t number = 1;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

class RecordingBuilder {
 public:
  explicit RecordingBuilder(profile::Packing packing = profile::Packing::kZstd);

  // Before the first flush.
  void meta(std::string_view key, std::string_view value);

  // Definitions; each returns its number.
  std::uint32_t string(std::string_view text);
  std::uint32_t module(std::string_view path, std::string_view build_id, std::uint64_t start,
                       std::uint64_t end, std::uint64_t bias);
  std::uint32_t function(std::string_view name, std::string_view file, std::uint64_t first_line,
                         const std::vector<std::pair<std::uint64_t, std::uint64_t>>& lines = {});
  std::uint32_t node(std::uint32_t parent, profile::NodeKind kind, std::uint64_t value,
                     std::uint64_t detail = 0);
  /// A node for a new function of an embedded language.
  std::uint32_t frame(std::uint32_t parent, std::string_view name);
  std::uint32_t type(std::string_view name);
  /// Code made at run time.
  std::uint32_t code(std::string_view name, std::uint64_t start, std::uint64_t bytes);
  std::uint32_t epoch(std::uint64_t interval_bytes, std::int64_t time_ns = 0);
  void thread(std::uint32_t stream, std::uint64_t id, std::string_view name);

  // Events, at nanoseconds since the start.
  void sample(std::uint32_t stream, std::int64_t time_ns, const BuiltSample& sample);
  void minor(std::int64_t time_ns, std::uint64_t number, const std::vector<BuiltFate>& fates);
  /// Full collection `number`, or 0 for an explicit free.
  void died(std::int64_t time_ns, std::uint64_t number,
            const std::vector<std::pair<std::uint32_t, std::uint64_t>>& samples);
  void pause(std::int64_t time_ns, const BuiltPause& pause);
  void level(std::int64_t time_ns, std::uint64_t heap, std::uint64_t used, std::uint64_t committed,
             std::uint64_t resident);
  void lost(std::int64_t time_ns, std::uint64_t count, std::uint64_t bytes, std::uint64_t objects,
            profile::LossReason reason);
  void time(std::uint32_t stream, std::int64_t time_ns, std::uint32_t node, std::uint64_t ns,
            std::uint64_t state = 0);
  void end(std::int64_t time_ns, profile::EndReason reason);
  /// Any record of the kind of events.
  void event(std::uint32_t stream, std::int64_t time_ns, std::uint64_t tag, const Bytes& body);
  /// Any definition.
  void definition(std::uint64_t tag, const Bytes& body);

  /// Ends the open chunks.
  void flush();
  /// A whole chunk, out of the ordinary.
  void chunk(std::uint8_t kind, std::uint32_t stream, const std::string& payload);
  /// The file so far, flushed.
  const std::string& file();
  void write(const std::string& path);

 private:
  struct OpenChunk {
    Bytes payload;
    std::int64_t time_ns = 0;
  };

  profile::Packing packing_;
  Bytes header_;
  bool header_written_ = false;
  std::uint32_t next_chunk_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> strings_;
  std::uint32_t modules_ = 0;
  std::uint32_t functions_ = 0;
  std::uint32_t nodes_ = 0;
  std::uint32_t types_ = 0;
  std::uint32_t codes_ = 0;
  std::uint32_t epochs_ = 0;
  Bytes definitions_;
  std::map<std::uint32_t, OpenChunk> events_;
  std::string file_;
};

}  // namespace fallow::test
