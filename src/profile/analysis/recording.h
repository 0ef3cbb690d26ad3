#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fallow/sample.h"
#include "fallow/step.h"
#include "profile/analysis/chunk_reader.h"
#include "profile/format/recording_format.h"

namespace fallow::profile {

// Numbers in definitions and events start at 1; 0 is none. `strings[0]`, `nodes[0]` and so on are
// there and empty, so that numbers are indices.

struct Module {
  std::uint32_t path = 0;      ///< a string
  std::uint32_t build_id = 0;  ///< a string
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;  ///< address in the process = address in the file + bias
};

/// Machine code made at run time.
struct Code {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::uint32_t name = 0;  ///< a string
};

/// Of an embedded language.
struct Function {
  std::uint32_t name = 0;  ///< a string
  std::uint32_t file = 0;  ///< a string
  std::uint64_t first_line = 0;
  /// (position, line), ascending by position: each line begins at its position.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> lines;
};

struct Node {
  std::uint32_t parent = 0;  ///< always less than the node's own number
  NodeKind kind = NodeKind::kMarker;
  std::uint32_t module = 0;  ///< of native code: the newest module there when the node was defined
  std::uint32_t code = 0;    ///< the same for code made at run time
  std::uint64_t value = 0;   ///< an address, a function or a string
  std::uint64_t detail = 0;
};

struct ThreadInfo {
  std::uint64_t id = 0;    ///< at the operating system
  std::uint32_t name = 0;  ///< a string
  std::int64_t started_ns = 0;
};

struct Epoch {
  std::uint64_t interval_bytes = 1;
  std::int64_t time_ns = 0;
};

struct Definitions {
  std::vector<std::string> strings = std::vector<std::string>(1);
  std::vector<Module> modules = std::vector<Module>(1);
  std::vector<Function> functions = std::vector<Function>(1);
  std::vector<Node> nodes = std::vector<Node>(1);
  std::vector<std::uint32_t> types = std::vector<std::uint32_t>(1);  ///< strings
  std::vector<Epoch> epochs = std::vector<Epoch>(1);
  std::vector<Code> codes = std::vector<Code>(1);
  std::map<std::uint32_t, ThreadInfo> threads;  ///< by stream
};

/// What became of a sampled object, as far as the recording tells.
enum class Fate : std::uint8_t {
  kLive,       ///< at the end of the recording
  kDiedYoung,  ///< found dead by the first minor collection after its birth
  kDiedOld,    ///< survived a minor collection, found dead by a full one
  kFreed,      ///< explicitly
  kUnknown     ///< not followed
};

struct Sample {
  std::uint64_t sequence = 0;  ///< in its stream
  std::uint64_t bytes = 0;     ///< that the object takes, at least 1
  std::int64_t time_ns = 0;
  std::int64_t fate_ns = 0;  ///< when the fate was found out; the end of the recording for kLive
  std::uint64_t weight = 0;  ///< bytes that the sample stands for, rounded: see assign_weights()
  double objects = 0;        ///< that the sample stands for
  std::uint32_t stream = 0;
  std::uint32_t node = 0;
  std::uint32_t epoch = 0;
  std::uint32_t type = 0;
  SampleRoute route = SampleRoute::kNursery;
  Fate fate = Fate::kLive;
  bool tenured = false;  ///< has survived a minor collection
};

/// A statement about a sample, which may stand in the file before the sample.
struct FateRecord {
  enum class Kind : std::uint8_t {
    kDiedYoung,
    kTenured,
    kStillYoung,
    kUntracked,
    kDiedOld,
    kFreed
  };
  std::uint64_t sequence = 0;
  std::int64_t time_ns = 0;
  std::uint32_t stream = 0;
  std::uint32_t type = 0;
  Kind kind = Kind::kDiedYoung;
};

struct Pause {
  std::int64_t end_ns = 0;
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t heap = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;  ///< that survived (minor) or are used afterwards
  std::uint32_t stream = 0;
  PauseKind kind = PauseKind::kMinor;
  std::uint8_t state_before = 0;  ///< of steps: CycleState
  std::uint8_t state_after = 0;

  [[nodiscard]] std::int64_t begin_ns() const {
    return end_ns - static_cast<std::int64_t>(wall_ns);
  }
};

struct Level {
  std::int64_t time_ns = 0;
  std::uint64_t heap = 0;  ///< 0: the process
  std::uint64_t used = 0;
  std::uint64_t committed = 0;
  std::uint64_t resident = 0;  ///< 0: not read
};

struct TimeSample {
  std::int64_t time_ns = 0;
  std::uint64_t weight_ns = 0;
  std::uint32_t stream = 0;
  std::uint32_t node = 0;
  bool in_collector = false;
};

struct Loss {
  double samples = 0;
  double bytes = 0;
  double objects = 0;
};

/// The recorder's own account.
struct SelfAccount {
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::uint64_t sampling_ns = 0;
  std::uint64_t writer_ns = 0;
  std::uint64_t bytes_held = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t process_ns = 0;
};

/// A whole recording in memory: about 80 bytes a sample and as much for its fate.
struct Recording {
  std::map<std::string, std::string> meta;
  Definitions definitions;
  std::vector<Sample> samples;
  std::vector<FateRecord> fates;
  std::vector<Pause> pauses;
  std::vector<Level> levels;
  std::vector<TimeSample> time_samples;
  std::array<Loss, 6> losses;  ///< by LossReason; [0] collects unknown reasons
  std::optional<SelfAccount> self;
  std::optional<EndReason> end;
  std::int64_t end_ns = 0;       ///< the time of the last event
  std::uint64_t raw_stacks = 0;  ///< copies of stacks, which are not unwound
  std::uint64_t file_bytes = 0;  ///< that were used
  std::uint64_t chunks = 0;
  std::optional<Damage> damage;

  [[nodiscard]] const std::string& text(std::uint32_t string) const {
    return definitions.strings[string];
  }
  /// Empty when there is none.
  [[nodiscard]] std::string meta_value(const std::string& key) const;
  [[nodiscard]] std::uint64_t meta_number(const std::string& key) const;
  [[nodiscard]] std::uint64_t interval_of(const Sample& sample) const {
    return definitions.epochs[sample.epoch].interval_bytes;
  }
};

}  // namespace fallow::profile
