#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "platform/loaded_modules.h"
#include "platform/ranked_mutex.h"
#include "profile/record/frame_trie.h"
#include "profile/record/functions.h"

namespace fallow::profile {

/// Takes the records of definitions, one chunk's payload after the other.
using DefinitionSink = std::function<void(const std::uint8_t* payload, std::size_t bytes)>;

/// What events refer to: call stacks, strings, types, threads, epochs. Everything has its number
/// from the moment it is needed; the file learns of it when the writer comes by, before it writes
/// any event that was recorded until then.
///
/// Members that change something need mutex() held, unless they say otherwise.
class Definitions {
 public:
  platform::RankedMutex& mutex() noexcept { return mutex_; }

  [[nodiscard]] bool allocate() noexcept { return trie_.allocate(); }
  /// For a new recording. Throws std::bad_alloc.
  void clear();

  std::uint32_t node_of(const StackTrace& trace) noexcept { return trie_.node_of(trace); }
  /// Never throws: without memory, and beyond kMaxTypes, it is the type "(other types)".
  std::uint32_t type_of(std::string_view name) noexcept;
  /// The same interval has the same epoch.
  std::uint32_t epoch_of(std::size_t interval_bytes, std::int64_t time_ns) noexcept;
  void add_thread(std::uint32_t stream, std::uint64_t thread_id, std::string_view name,
                  std::int64_t time_ns) noexcept;

  /// For the writer alone, without mutex(): what is new since the last call goes into `sink`.
  void write(const std::vector<platform::LoadedModule>& new_modules,
             const std::vector<CodeRange>& new_code, std::int64_t now_ns,
             const DefinitionSink& sink);

  [[nodiscard]] const FrameTrie& trie() const noexcept { return trie_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  class Encoder;
  struct Thread {
    std::uint32_t stream;
    std::uint64_t id;
    std::uint32_t name;
    std::int64_t time_ns;
  };
  struct Epoch {
    std::size_t interval_bytes;
    std::int64_t time_ns;
  };
  struct KnownType {
    const char* data = nullptr;
    std::size_t size = 0;
    std::uint32_t type = 0;
  };
  static constexpr std::size_t kMaxTypes = 50'000;
  static constexpr std::size_t kMaxName = 4096;
  static constexpr std::size_t kKnownTypes = 1024;

  std::uint32_t string(std::string_view text);
  std::uint32_t intern_type(std::string_view name);
  void write_functions(Encoder& encoder, std::uint32_t nodes);
  void write_small(Encoder& encoder);
  void write_nodes(Encoder& encoder, std::uint32_t nodes);

  platform::RankedMutex mutex_{platform::LockRank::kProfileDefinitions, "profile definitions"};
  FrameTrie trie_;
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, std::uint32_t> string_numbers_;
  std::size_t string_bytes_ = 0;
  std::vector<std::uint32_t> types_;  // their strings
  std::unordered_map<std::uint32_t, std::uint32_t> type_numbers_;
  std::vector<KnownType> known_types_;  // by address: names rarely move
  std::vector<Thread> threads_;
  std::vector<Epoch> epochs_;

  // The writer's.
  std::size_t strings_written_ = 0;
  std::size_t types_written_ = 0;
  std::size_t threads_written_ = 0;
  std::size_t epochs_written_ = 0;
  std::uint32_t nodes_written_ = 0;
  std::uint32_t nodes_scanned_ = 0;  // for functions
  std::uint32_t modules_written_ = 0;
  std::uint32_t code_written_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> function_numbers_;  // by FunctionId
};

}  // namespace fallow::profile
