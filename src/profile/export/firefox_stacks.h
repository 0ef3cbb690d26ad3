#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/analysis/profile.h"
#include "profile/export/json_writer.h"

namespace fallow::profile {

/// Of the profile's list of categories, in this order.
enum class FirefoxCategory : std::uint8_t {
  kOther,
  kNative,
  kLanguage,
  kCollector,
  kDiedYoung,
  kDiedLater,
  kAlive,
  kNotFollowed
};

void write_firefox_categories(JsonWriter& json);

/// The tables that all threads share: texts, functions, frames, stacks. The stacks are those of the
/// call tree, with leaves for the types.
class FirefoxStacks {
 public:
  explicit FirefoxStacks(const Profile& profile);

  std::uint32_t text(const std::string& text);

  /// The row of a stack, or -1 for none.
  static std::int64_t stack(std::uint32_t vertex) { return std::int64_t{vertex} - 1; }
  /// The row of a stack with the type as its leaf, coloured by what became of the object.
  std::int64_t stack_with_type(const Sample& sample);
  /// The row of a stack with the collector as its leaf.
  std::int64_t stack_in_collector(std::uint32_t vertex);

  void write_libraries(JsonWriter& json) const;
  /// The member `shared`; all rows must have been asked for.
  void write_shared(JsonWriter& json) const;

 private:
  struct FrameRow {
    std::uint32_t function;
    FirefoxCategory category;
    std::uint32_t line;
  };
  struct FunctionRow {
    std::uint32_t name;
    std::int64_t resource;
    std::int64_t source;
    bool in_language;
  };
  struct StackRow {
    std::uint32_t frame;
    std::uint32_t parent_distance;
  };
  struct Library {
    std::string path;
    std::string build_id;
    std::uint32_t name;
  };

  void add_libraries();
  void add_frames();
  std::int64_t source_of(std::uint32_t file);
  std::int64_t leaf(std::uint32_t vertex, std::uint32_t name, FirefoxCategory category);
  void write_frames(JsonWriter& json) const;
  void write_functions(JsonWriter& json) const;
  void write_small_tables(JsonWriter& json) const;

  const Profile& profile_;
  std::unordered_map<std::string, std::uint32_t> text_numbers_;
  std::vector<std::string> texts_;
  std::vector<Library> libraries_;
  std::unordered_map<std::uint32_t, std::int64_t> library_of_path_;  // by text of the tree
  std::vector<FunctionRow> functions_;
  std::vector<FrameRow> frames_;
  std::vector<StackRow> stacks_;
  std::vector<std::uint32_t> sources_;  // texts here
  std::unordered_map<std::uint32_t, std::int64_t> source_rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> leaf_frames_;
  std::unordered_map<std::uint64_t, std::int64_t> leaf_stacks_;
};

}  // namespace fallow::profile
