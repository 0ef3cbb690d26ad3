// The numbers of the recording file: docs/recording.md explains them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fallow::profile {

inline constexpr std::uint64_t kRecordingVersion = 1;
inline constexpr char kChunkMagic[4] = {'F', 'L', 'W', 'C'};
inline constexpr std::size_t kChunkHeaderBytes = 32;
/// Of the chunk's header, in front of the checksum and covered by it.
inline constexpr std::size_t kChunkCheckedBytes = 24;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{4} << 20;

enum class ChunkKind : std::uint8_t { kHeader = 1, kDefinitions = 2, kEvents = 3 };
enum class Packing : std::uint8_t { kNone = 0, kZstd = 1 };

enum class HeaderTag : std::uint8_t { kVersion = 1, kMeta = 2 };

enum class DefinitionTag : std::uint8_t {
  kString = 1,
  kModule = 2,
  kFunction = 3,
  kNode = 4,
  kType = 5,
  kThread = 6,
  kEpoch = 7,
  kCode = 8
};

enum class NodeKind : std::uint8_t { kNative = 1, kEmbedded = 2, kMarker = 3 };

enum class EventTag : std::uint8_t {
  kSample = 16,
  kMinor = 17,
  kDied = 18,
  kPause = 19,
  kLevel = 20,
  kLost = 21,
  kTime = 22,
  kStack = 23,
  kSelf = 24,
  kEnd = 25
};

enum class PauseKind : std::uint8_t { kMinor = 1, kStep = 2, kFull = 3 };
enum class LossReason : std::uint8_t {
  kNoBuffer = 1,
  kInsideSample = 2,
  kNoMemory = 3,
  kSizeLimit = 4,
  kDisk = 5
};
enum class EndReason : std::uint8_t {
  kStopped = 1,
  kExit = 2,
  kSizeLimit = 3,
  kDisk = 4,
  kForked = 5
};
/// Of a sampled young object: the two lowest bits of what the Minor record says of it.
enum class SettledOutcome : std::uint8_t {
  kDied = 0,
  kSurvived = 1,
  kStillYoung = 2,
  kUntracked = 3
};

}  // namespace fallow::profile
