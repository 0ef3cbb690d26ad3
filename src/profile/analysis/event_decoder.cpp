#include "profile/analysis/event_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fallow::profile {
namespace {

// Times and lengths beyond this (eighteen years) are no times: sums of two cannot overflow.
constexpr std::int64_t kMaxNs = std::int64_t{1} << 59;
// Beyond this, an amount of bytes is none, and a double would not be exact.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 52;

}  // namespace

std::string EventDecoder::decode(std::uint64_t tag, ByteReader body) {
  if (tag < static_cast<std::uint64_t>(EventTag::kSample) ||
      tag > static_cast<std::uint64_t>(EventTag::kEnd)) {
    return {};
  }
  std::string problem = advance(body.signed_varint());
  if (problem.empty()) problem = decode_body(tag, body);
  if (body.failed()) return fmt::format("an event of kind {} is cut short", tag);
  return problem;
}

std::string EventDecoder::decode_body(std::uint64_t tag, ByteReader& body) {
  switch (static_cast<EventTag>(tag)) {
    case EventTag::kSample:
      return sample(body);
    case EventTag::kMinor:
      return minor(body);
    case EventTag::kDied:
      return died(body);
    case EventTag::kPause:
      return pause(body);
    case EventTag::kTime:
      return time(body);
    case EventTag::kLevel:
      level(body);
      return {};
    case EventTag::kLost:
      lost(body);
      return {};
    case EventTag::kStack:
      ++recording_.raw_stacks;
      return {};
    case EventTag::kSelf:
      self(body);
      return {};
    case EventTag::kEnd:
      recording_.end = static_cast<EndReason>(std::min<std::uint64_t>(body.varint(), 255));
      return {};
  }
  return {};
}

std::string EventDecoder::advance(std::int64_t delta_ns) {
  if (delta_ns > kMaxNs || delta_ns < -kMaxNs) return "an event is centuries away from the others";
  const std::int64_t moved = time_ns_ + delta_ns;
  if (moved > kMaxNs || moved < -kMaxNs) return "an event is centuries away from the others";
  time_ns_ = moved;
  recording_.end_ns = std::max(recording_.end_ns, moved);
  return {};
}

std::string EventDecoder::sample(ByteReader& body) {
  Sample sample;
  sample.sequence = body.varint();
  const std::uint64_t node = body.varint();
  sample.bytes = body.varint();
  const std::uint64_t epoch = body.varint();
  const std::uint64_t route = body.varint();
  const std::uint64_t type = body.varint();
  if (body.failed()) return {};
  const Definitions& known = recording_.definitions;
  if (node >= known.nodes.size()) return fmt::format("a sample names the unknown node {}", node);
  if (epoch == 0 || epoch >= known.epochs.size()) {
    return fmt::format("a sample names the unknown epoch {}", epoch);
  }
  if (type >= known.types.size()) return fmt::format("a sample names the unknown type {}", type);
  if (sample.bytes == 0 || sample.bytes > kMaxBytes) {
    return fmt::format("a sample of {} bytes", sample.bytes);
  }
  sample.time_ns = time_ns_;
  sample.stream = stream_;
  sample.node = static_cast<std::uint32_t>(node);
  sample.epoch = static_cast<std::uint32_t>(epoch);
  sample.type = static_cast<std::uint32_t>(type);
  sample.route = static_cast<SampleRoute>(std::min<std::uint64_t>(route, 255));
  recording_.samples.push_back(sample);
  return {};
}

std::string EventDecoder::minor(ByteReader& body) {
  body.varint();  // heap
  body.varint();  // number of the collection
  const std::uint64_t count = body.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t stream = body.varint();
    FateRecord fate;
    fate.sequence = body.varint();
    const std::uint64_t type_and_outcome = body.varint();
    if (body.failed()) return {};
    if (stream > std::numeric_limits<std::uint32_t>::max()) return "a fate names no stream";
    if (type_and_outcome / 4 >= recording_.definitions.types.size()) {
      return fmt::format("a fate names the unknown type {}", type_and_outcome / 4);
    }
    fate.time_ns = time_ns_;
    fate.stream = static_cast<std::uint32_t>(stream);
    fate.type = static_cast<std::uint32_t>(type_and_outcome / 4);
    fate.kind = static_cast<FateRecord::Kind>(type_and_outcome % 4);
    recording_.fates.push_back(fate);
  }
  return {};
}

std::string EventDecoder::died(ByteReader& body) {
  body.varint();  // heap
  const bool freed = body.varint() == 0;
  const std::uint64_t count = body.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t stream = body.varint();
    FateRecord fate;
    fate.sequence = body.varint();
    if (body.failed()) return {};
    if (stream > std::numeric_limits<std::uint32_t>::max()) return "a fate names no stream";
    fate.time_ns = time_ns_;
    fate.stream = static_cast<std::uint32_t>(stream);
    fate.kind = freed ? FateRecord::Kind::kFreed : FateRecord::Kind::kDiedOld;
    recording_.fates.push_back(fate);
  }
  return {};
}

std::string EventDecoder::pause(ByteReader& body) {
  Pause pause;
  pause.end_ns = time_ns_;
  pause.stream = stream_;
  pause.heap = body.varint();
  const std::uint64_t kind = body.varint();
  pause.wall_ns = body.varint();
  pause.cpu_ns = body.varint();
  pause.number = body.varint();
  pause.bytes_before = body.varint();
  pause.bytes_after = body.varint();
  if (body.failed()) return {};
  if (kind < 1 || kind > 3) return {};  // of a later version
  pause.kind = static_cast<PauseKind>(kind);
  if (pause.kind == PauseKind::kStep) {
    pause.state_before = static_cast<std::uint8_t>(std::min<std::uint64_t>(body.varint(), 255));
    pause.state_after = static_cast<std::uint8_t>(std::min<std::uint64_t>(body.varint(), 255));
  }
  if (pause.wall_ns > static_cast<std::uint64_t>(kMaxNs)) return "a pause of centuries";
  recording_.pauses.push_back(pause);
  return {};
}

std::string EventDecoder::time(ByteReader& body) {
  const std::uint64_t node = body.varint();
  TimeSample sample;
  sample.weight_ns = body.varint();
  sample.in_collector = body.varint() == 1;
  if (body.failed()) return {};
  if (node >= recording_.definitions.nodes.size()) {
    return fmt::format("a sample of time names the unknown node {}", node);
  }
  if (sample.weight_ns > static_cast<std::uint64_t>(kMaxNs)) return "a sample of centuries";
  sample.time_ns = time_ns_;
  sample.stream = stream_;
  sample.node = static_cast<std::uint32_t>(node);
  recording_.time_samples.push_back(sample);
  return {};
}

void EventDecoder::level(ByteReader& body) {
  Level level;
  level.time_ns = time_ns_;
  level.heap = body.varint();
  level.used = std::min(body.varint(), kMaxBytes);
  level.committed = std::min(body.varint(), kMaxBytes);
  level.resident = std::min(body.varint(), kMaxBytes);
  if (!body.failed()) recording_.levels.push_back(level);
}

void EventDecoder::lost(ByteReader& body) {
  const auto count = static_cast<double>(body.varint());
  const auto bytes = static_cast<double>(body.varint());
  const auto objects = static_cast<double>(body.varint());
  const std::uint64_t reason = body.varint();
  if (body.failed()) return;
  Loss& loss = recording_.losses[reason < recording_.losses.size() ? reason : 0];
  loss.samples += count;
  loss.bytes += bytes;
  loss.objects += objects;
}

void EventDecoder::self(ByteReader& body) {
  SelfAccount self;
  self.samples = body.varint();
  self.lost = body.varint();
  self.sampling_ns = body.varint();
  self.writer_ns = body.varint();
  self.bytes_held = body.varint();
  self.bytes_written = body.varint();
  self.process_ns = body.varint();
  if (!body.failed()) recording_.self = self;
}

}  // namespace fallow::profile
