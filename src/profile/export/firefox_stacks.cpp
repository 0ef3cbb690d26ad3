#include "profile/export/firefox_stacks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "profile/export/clean_text.h"
#include "profile/export/stack_rows.h"

namespace fallow::profile {
namespace {

FirefoxCategory category_of(FrameCategory category) {
  switch (category) {
    case FrameCategory::kNative:
      return FirefoxCategory::kNative;
    case FrameCategory::kLanguage:
      return FirefoxCategory::kLanguage;
    case FrameCategory::kCollector:
      return FirefoxCategory::kCollector;
    case FrameCategory::kOther:
      break;
  }
  return FirefoxCategory::kOther;
}

FirefoxCategory category_of(Fate fate) {
  switch (fate) {
    case Fate::kDiedYoung:
      return FirefoxCategory::kDiedYoung;
    case Fate::kDiedOld:
    case Fate::kFreed:
      return FirefoxCategory::kDiedLater;
    case Fate::kUnknown:
      return FirefoxCategory::kNotFollowed;
    case Fate::kLive:
      break;
  }
  return FirefoxCategory::kAlive;
}

// 32 hex digits and an age: the first 16 bytes of the build id, in the order of a GUID's fields.
std::string breakpad_id(const std::string& build_id) {
  std::string hex;
  for (const char digit : build_id) {
    if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) continue;
    hex += static_cast<char>(std::toupper(static_cast<unsigned char>(digit)));
  }
  hex.resize(32, '0');
  const auto reversed = [&hex](std::size_t from, std::size_t bytes) {
    std::string part;
    for (std::size_t i = bytes; i-- > 0;) part += hex.substr(from + 2 * i, 2);
    return part;
  };
  return reversed(0, 4) + reversed(8, 2) + reversed(12, 2) + hex.substr(16) + "0";
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

void write_firefox_categories(JsonWriter& json) {
  constexpr std::pair<const char*, const char*> kCategories[] = {
      {"Other", "grey"},
      {"Native", "blue"},
      {"Language", "yellow"},
      {"Collector", "orange"},
      {"Type: died in the nursery", "green"},
      {"Type: died later", "lightblue"},
      {"Type: alive at the end", "red"},
      {"Type: not followed", "darkgrey"},
  };
  json.key("categories").begin_array();
  for (const auto& [name, color] : kCategories) {
    json.begin_object().member("name", name).member("color", color);
    json.key("subcategories").begin_array().value("Other").end_array().end_object();
  }
  json.end_array();
}

FirefoxStacks::FirefoxStacks(const Profile& profile) : profile_(profile) {
  add_libraries();
  add_frames();
  const CallTree& tree = profile.tree;
  for (std::uint32_t i = 1; i < tree.vertices.size(); ++i) {
    const std::uint32_t parent = tree.vertices[i].parent;
    stacks_.push_back({tree.vertices[i].frame, parent == 0 ? 0 : i - parent});
  }
}

std::uint32_t FirefoxStacks::text(const std::string& text) {
  const auto [found, is_new] =
      text_numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return found->second;
}

void FirefoxStacks::add_libraries() {
  const Recording& recording = profile_.recording;
  std::unordered_map<std::string, std::int64_t> rows;
  for (std::size_t i = 1; i < recording.definitions.modules.size(); ++i) {
    const Module& module = recording.definitions.modules[i];
    const std::string& path = recording.text(module.path);
    if (!rows.try_emplace(path, static_cast<std::int64_t>(libraries_.size())).second) continue;
    libraries_.push_back({path, recording.text(module.build_id), text(file_name(path))});
  }
  for (std::uint32_t i = 0; i < profile_.tree.texts.size(); ++i) {
    const auto found = rows.find(profile_.tree.texts[i]);
    if (found != rows.end()) library_of_path_[i] = found->second;
  }
}

std::int64_t FirefoxStacks::source_of(std::uint32_t file) {
  if (file == 0) return -1;
  const auto [found, is_new] =
      source_rows_.try_emplace(file, static_cast<std::int64_t>(sources_.size()));
  if (is_new) sources_.push_back(text(profile_.tree.texts[file]));
  return found->second;
}

void FirefoxStacks::add_frames() {
  const CallTree& tree = profile_.tree;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> rows;
  for (const Frame& frame : tree.frames) {
    const auto [found, is_new] = rows.try_emplace({frame.name, frame.file, frame.module},
                                                  static_cast<std::uint32_t>(functions_.size()));
    if (is_new) {
      const auto library = library_of_path_.find(frame.module);
      functions_.push_back({text(tree.texts[frame.name]),
                            library == library_of_path_.end() ? -1 : library->second,
                            source_of(frame.file), frame.category == FrameCategory::kLanguage});
    }
    frames_.push_back({found->second, category_of(frame.category), frame.line});
  }
}

std::int64_t FirefoxStacks::leaf(std::uint32_t vertex, std::uint32_t name,
                                 FirefoxCategory category) {
  const auto kind = static_cast<std::uint64_t>(category);
  const auto [frame, new_frame] = leaf_frames_.try_emplace(
      (std::uint64_t{name} << 8) | kind, static_cast<std::uint32_t>(frames_.size()));
  if (new_frame) {
    const auto [function, new_function] = leaf_frames_.try_emplace(
        (std::uint64_t{name} << 8) | 0xFF, static_cast<std::uint32_t>(functions_.size()));
    if (new_function) functions_.push_back({name, -1, -1, false});
    frames_.push_back({function->second, category, 0});
  }
  const auto row = static_cast<std::int64_t>(stacks_.size());
  const auto [stack, new_stack] =
      leaf_stacks_.try_emplace((std::uint64_t{vertex} << 32) | frame->second, row);
  if (new_stack) {
    const auto distance = vertex == 0 ? 0 : static_cast<std::uint32_t>(row - (vertex - 1));
    stacks_.push_back({frame->second, distance});
  }
  return stack->second;
}

std::int64_t FirefoxStacks::stack_with_type(const Sample& sample) {
  return leaf(profile_.vertex_of(sample), text(leaf_name(profile_, sample.type, sample.route)),
              category_of(sample.fate));
}

std::int64_t FirefoxStacks::stack_in_collector(std::uint32_t vertex) {
  return leaf(vertex, text("(garbage collection)"), FirefoxCategory::kCollector);
}

void FirefoxStacks::write_libraries(JsonWriter& json) const {
  json.key("libs").begin_array();
  for (const Library& library : libraries_) {
    const std::string name = file_name(library.path);
    json.begin_object().member("arch", "x86_64").member("name", name);
    json.member("path", library.path).member("debugName", name).member("debugPath", library.path);
    json.member("breakpadId", breakpad_id(library.build_id)).key("codeId");
    library.build_id.empty() ? json.null() : json.value(library.build_id);
    json.end_object();
  }
  json.end_array();
}

void FirefoxStacks::write_shared(JsonWriter& json) const {
  json.key("shared").begin_object();
  json.key("stackTable").begin_object().member("length", stacks_.size());
  json.column("frame", stacks_.size(),
              [&](JsonWriter& out, std::size_t i) { out.value(stacks_[i].frame); });
  json.column("prefixOffset", stacks_.size(),
              [&](JsonWriter& out, std::size_t i) { out.value(stacks_[i].parent_distance); });
  json.end_object();
  write_frames(json);
  write_functions(json);
  write_small_tables(json);
  json.column("stringArray", texts_.size(),
              [&](JsonWriter& out, std::size_t i) { out.value(texts_[i]); });
  json.end_object();
}

void FirefoxStacks::write_frames(JsonWriter& json) const {
  const std::size_t count = frames_.size();
  const auto constant = [&](const char* name, auto&& write) {
    json.column(name, count, [&](JsonWriter& out, std::size_t) { write(out); });
  };
  json.key("frameTable").begin_object().member("length", count);
  constant("address", [](JsonWriter& out) { out.value(-1); });
  constant("inlineDepth", [](JsonWriter& out) { out.value(0); });
  json.column("category", count, [&](JsonWriter& out, std::size_t i) {
    out.value(static_cast<unsigned>(frames_[i].category));
  });
  constant("subcategory", [](JsonWriter& out) { out.value(0); });
  json.column("func", count,
              [&](JsonWriter& out, std::size_t i) { out.value(frames_[i].function); });
  for (const char* const name : {"nativeSymbol", "innerWindowID", "column", "originalLocation"}) {
    constant(name, [](JsonWriter& out) { out.null(); });
  }
  json.column("line", count, [&](JsonWriter& out, std::size_t i) {
    frames_[i].line == 0 ? out.null() : out.value(frames_[i].line);
  });
  json.end_object();
}

void FirefoxStacks::write_functions(JsonWriter& json) const {
  const std::size_t count = functions_.size();
  json.key("funcTable").begin_object().member("length", count);
  json.column("name", count,
              [&](JsonWriter& out, std::size_t i) { out.value(functions_[i].name); });
  for (const char* const name : {"isJS", "relevantForJS"}) {
    json.column(name, count,
                [&](JsonWriter& out, std::size_t i) { out.value(functions_[i].in_language); });
  }
  json.column("resource", count,
              [&](JsonWriter& out, std::size_t i) { out.value(functions_[i].resource); });
  json.column("source", count, [&](JsonWriter& out, std::size_t i) {
    functions_[i].source < 0 ? out.null() : out.value(functions_[i].source);
  });
  for (const char* const name : {"lineNumber", "columnNumber", "originalLocation"}) {
    json.column(name, count, [](JsonWriter& out, std::size_t) { out.null(); });
  }
  json.end_object();
}

void FirefoxStacks::write_small_tables(JsonWriter& json) const {
  const auto table = [&json](const char* name, std::size_t count) -> JsonWriter& {
    return json.key(name).begin_object().member("length", count);
  };
  const std::size_t libraries = libraries_.size();
  table("resourceTable", libraries);
  json.column("lib", libraries, [](JsonWriter& out, std::size_t i) { out.value(i); });
  json.column("name", libraries,
              [&](JsonWriter& out, std::size_t i) { out.value(libraries_[i].name); });
  json.column("host", libraries, [](JsonWriter& out, std::size_t) { out.null(); });
  json.column("type", libraries, [](JsonWriter& out, std::size_t) { out.value(1); });
  json.end_object();
  table("nativeSymbols", 0);
  for (const char* const name : {"libIndex", "address", "name", "functionSize"}) {
    json.key(name).begin_array().end_array();
  }
  json.end_object();
  const std::size_t sources = sources_.size();
  table("sources", sources);
  json.column("filename", sources, [&](JsonWriter& out, std::size_t i) { out.value(sources_[i]); });
  for (const char* const name : {"id", "sourceMapURL", "content"}) {
    json.column(name, sources, [](JsonWriter& out, std::size_t) { out.null(); });
  }
  for (const char* const name : {"startLine", "startColumn"}) {
    json.column(name, sources, [](JsonWriter& out, std::size_t) { out.value(1); });
  }
  json.end_object();
  table("sourceLocationTable", 0);
  for (const char* const name : {"source", "line", "column"}) {
    json.key(name).begin_array().end_array();
  }
  json.end_object();
}

}  // namespace fallow::profile
