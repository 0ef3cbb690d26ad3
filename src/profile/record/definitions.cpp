#include "profile/record/definitions.h"

#include <mutex>
#include <new>
#include <optional>

#include "platform/split_mix.h"
#include "profile/format/encoding.h"

namespace fallow::profile {

namespace {
constexpr std::string_view kCutName = "(deep stack cut)";
constexpr std::string_view kFullName = "(stack table full)";
constexpr std::string_view kOtherTypes = "(other types)";
constexpr std::string_view kUnknownFunction = "(unknown function)";
constexpr std::uint32_t kOtherType = 1;
}  // namespace

/// Collects records and hands them on in pieces.
class Definitions::Encoder {
 public:
  explicit Encoder(const DefinitionSink& sink) : sink_(sink) { bytes_.reserve(2 * kPiece); }
  ~Encoder() { hand_on(); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// `most` is the largest size of the body.
  template <class Write>
  void record(DefinitionTag tag, std::size_t most, Write&& write) {
    const std::size_t used = bytes_.size();
    bytes_.resize(used + kMaxRecordHead + most);
    std::uint8_t* const start = bytes_.data() + used;
    bytes_.resize(used + static_cast<std::size_t>(put_record(start, tag, write) - start));
    if (bytes_.size() >= kPiece) hand_on();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{64} << 10;

  void hand_on() {
    if (!bytes_.empty()) sink_(bytes_.data(), bytes_.size());
    bytes_.clear();
  }

  const DefinitionSink& sink_;
  std::vector<std::uint8_t> bytes_;
};

void Definitions::clear() {
  strings_.clear();
  string_numbers_.clear();
  string_bytes_ = 0;
  types_.clear();
  type_numbers_.clear();
  known_types_.assign(kKnownTypes, {});
  threads_.clear();
  epochs_.clear();
  strings_written_ = types_written_ = threads_written_ = epochs_written_ = 0;
  nodes_written_ = nodes_scanned_ = modules_written_ = code_written_ = 0;
  function_numbers_.clear();
  const StackEntry cut = StackEntry::of(NodeKind::kMarker, string(kCutName));
  const StackEntry full = StackEntry::of(NodeKind::kMarker, string(kFullName));
  trie_.clear(cut, full);
  intern_type(kOtherTypes);
}

std::size_t Definitions::memory_bytes() const noexcept {
  constexpr std::size_t kEach = 96;  // of containers, roughly
  return trie_.memory_bytes() + string_bytes_ + strings_.size() * kEach + types_.size() * kEach +
         threads_.capacity() * sizeof(Thread) + function_numbers_.size() * kEach +
         known_types_.size() * sizeof(KnownType);
}

std::uint32_t Definitions::string(std::string_view text) {
  const std::string_view kept = text.substr(0, kMaxName);
  const auto found = string_numbers_.find(kept);
  if (found != string_numbers_.end()) return found->second;
  strings_.emplace_back(kept);
  string_bytes_ += kept.size();
  const auto number = static_cast<std::uint32_t>(strings_.size());
  string_numbers_.emplace(strings_.back(), number);
  return number;
}

std::uint32_t Definitions::intern_type(std::string_view name) {
  if (types_.size() >= kMaxTypes) return kOtherType;
  const std::uint32_t text = string(name);
  const auto [found, added] =
      type_numbers_.try_emplace(text, static_cast<std::uint32_t>(types_.size() + 1));
  if (added) types_.push_back(text);
  return found->second;
}

std::uint32_t Definitions::type_of(std::string_view name) noexcept {
  if (name.empty()) return 0;
  const auto key = reinterpret_cast<std::uintptr_t>(name.data());
  KnownType& known = known_types_[platform::mix_bits(key) % kKnownTypes];
  if (known.data == name.data() && known.size == name.size() &&
      name == strings_[types_[known.type - 1] - 1]) {
    return known.type;
  }
  try {
    known = {name.data(), name.size(), intern_type(name)};
    return known.type;
  } catch (const std::bad_alloc&) {
    return kOtherType;
  }
}

std::uint32_t Definitions::epoch_of(std::size_t interval_bytes, std::int64_t time_ns) noexcept {
  for (std::size_t i = epochs_.size(); i-- > 0;) {
    if (epochs_[i].interval_bytes == interval_bytes) return static_cast<std::uint32_t>(i + 1);
  }
  try {
    epochs_.push_back({interval_bytes, time_ns});
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return static_cast<std::uint32_t>(epochs_.size());
}

void Definitions::add_thread(std::uint32_t stream, std::uint64_t thread_id, std::string_view name,
                             std::int64_t time_ns) noexcept {
  try {
    threads_.push_back({stream, thread_id, string(name), time_ns});
  } catch (const std::bad_alloc&) {
    return;  // a thread without a name
  }
}

void Definitions::write(const std::vector<platform::LoadedModule>& new_modules,
                        const std::vector<CodeRange>& new_code, std::int64_t now_ns,
                        const DefinitionSink& sink) {
  Encoder encoder(sink);
  std::uint32_t nodes = 0;
  {
    const std::lock_guard lock(mutex_);
    nodes = trie_.size();
  }
  for (const platform::LoadedModule& module : new_modules) {
    std::uint32_t path = 0;
    std::uint32_t build_id = 0;
    {
      const std::lock_guard lock(mutex_);
      path = string(module.path);
      if (!module.build_id.empty()) build_id = string(module.build_id);
      write_small(encoder);
    }
    encoder.record(DefinitionTag::kModule, 6 * kMaxVarintBytes, [&](std::uint8_t* at) {
      at = put_varint(at, ++modules_written_);
      at = put_varint(at, path);
      at = put_varint(at, build_id);
      at = put_varint(at, module.start);
      at = put_varint(at, module.end);
      return put_varint(at, module.bias);
    });
  }
  for (const CodeRange& code : new_code) {
    std::uint32_t name = 0;
    {
      const std::lock_guard lock(mutex_);
      name = string(code.name);
      write_small(encoder);
    }
    encoder.record(DefinitionTag::kCode, 5 * kMaxVarintBytes, [&](std::uint8_t* at) {
      at = put_varint(at, ++code_written_);
      at = put_varint(at, code.start);
      at = put_varint(at, code.bytes);
      at = put_varint(at, name);
      return put_signed(at, now_ns);
    });
  }
  write_functions(encoder, nodes);
  {
    const std::lock_guard lock(mutex_);
    write_small(encoder);
  }
  write_nodes(encoder, nodes);
}

void Definitions::write_small(Encoder& encoder) {
  for (; strings_written_ < strings_.size(); ++strings_written_) {
    const std::string& text = strings_[strings_written_];
    encoder.record(DefinitionTag::kString, kMaxVarintBytes + text.size(), [&](std::uint8_t* at) {
      return put_bytes(put_varint(at, strings_written_ + 1), text);
    });
  }
  for (; types_written_ < types_.size(); ++types_written_) {
    encoder.record(DefinitionTag::kType, 2 * kMaxVarintBytes, [&](std::uint8_t* at) {
      return put_varint(put_varint(at, types_written_ + 1), types_[types_written_]);
    });
  }
  for (; threads_written_ < threads_.size(); ++threads_written_) {
    const Thread& thread = threads_[threads_written_];
    encoder.record(DefinitionTag::kThread, 4 * kMaxVarintBytes, [&](std::uint8_t* at) {
      at = put_varint(put_varint(at, thread.stream), thread.id);
      return put_signed(put_varint(at, thread.name), thread.time_ns);
    });
  }
  for (; epochs_written_ < epochs_.size(); ++epochs_written_) {
    const Epoch& epoch = epochs_[epochs_written_];
    encoder.record(DefinitionTag::kEpoch, 3 * kMaxVarintBytes, [&](std::uint8_t* at) {
      at = put_varint(put_varint(at, epochs_written_ + 1), epoch.interval_bytes);
      return put_signed(at, epoch.time_ns);
    });
  }
}

void Definitions::write_functions(Encoder& encoder, std::uint32_t nodes) {
  for (; nodes_scanned_ < nodes; ++nodes_scanned_) {
    const FrameTrie::Node& node = trie_.node(nodes_scanned_ + 1);
    const StackEntry entry{node.value, node.detail};
    if (entry.kind() != NodeKind::kEmbedded) continue;
    const std::uint64_t id = entry.value & StackEntry::kValueMask;
    const auto number = static_cast<std::uint32_t>(function_numbers_.size() + 1);
    if (!function_numbers_.try_emplace(id, number).second) continue;
    const FunctionFacts* const known = FunctionRegistry::instance().find(id);
    static const FunctionFacts unknown{std::string(kUnknownFunction), {}, 0, {}};
    const FunctionFacts& facts = known == nullptr ? unknown : *known;
    std::uint32_t name = 0;
    std::uint32_t file = 0;
    {
      const std::lock_guard lock(mutex_);
      name = string(facts.name);
      if (!facts.file.empty()) file = string(facts.file);
      write_small(encoder);
    }
    const std::size_t most = (5 + 2 * facts.lines.size()) * kMaxVarintBytes;
    encoder.record(DefinitionTag::kFunction, most, [&](std::uint8_t* at) {
      at = put_varint(put_varint(put_varint(at, number), name), file);
      at = put_varint(put_varint(at, facts.first_line), facts.lines.size());
      for (const PositionLine& pair : facts.lines) {
        at = put_varint(put_varint(at, pair.position), pair.line);
      }
      return at;
    });
  }
}

void Definitions::write_nodes(Encoder& encoder, std::uint32_t nodes) {
  for (; nodes_written_ < nodes; ++nodes_written_) {
    const FrameTrie::Node& node = trie_.node(nodes_written_ + 1);
    const StackEntry entry{node.value, node.detail};
    std::uint64_t value = entry.value & StackEntry::kValueMask;
    if (entry.kind() == NodeKind::kEmbedded) value = function_numbers_.at(value);
    encoder.record(DefinitionTag::kNode, 5 * kMaxVarintBytes, [&](std::uint8_t* at) {
      at = put_varint(put_varint(at, nodes_written_ + 1), node.parent);
      at = put_varint(at, static_cast<std::uint64_t>(entry.kind()));
      return put_varint(put_varint(at, value), node.detail);
    });
  }
}

}  // namespace fallow::profile
