// pprof's profile.proto: field numbers are those of its message definitions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profile/export/clean_text.h"
#include "profile/export/exporter.h"
#include "profile/export/protobuf.h"
#include "profile/export/stack_rows.h"

namespace fallow::profile {
namespace {

const char* generation_of(const Sample& sample) {
  switch (sample.fate) {
    case Fate::kDiedYoung:
      return "died young";
    case Fate::kDiedOld:
      return "died old";
    case Fate::kFreed:
      return "freed";
    case Fate::kUnknown:
      return "not followed";
    case Fate::kLive:
      break;
  }
  return sample.tenured ? "alive, old" : "alive";
}

const char* age_of(const Sample& sample) {
  const std::int64_t age = sample.fate_ns - sample.time_ns;
  if (age < 1'000'000) return "under 1 ms";
  if (age < 10'000'000) return "1 to 10 ms";
  if (age < 100'000'000) return "10 to 100 ms";
  if (age < 1'000'000'000) return "0.1 to 1 s";
  if (age < 10'000'000'000) return "1 to 10 s";
  return "10 s and more";
}

struct Values {
  double objects = 0;
  double bytes = 0;
  double live_objects = 0;
  double live_bytes = 0;
};

// Whole numbers whose sum is the rounded sum.
class Rounding {
 public:
  std::uint64_t next(double value) {
    carried_ += value;
    const double whole = std::max(std::floor(carried_ + 0.5), 0.0);
    carried_ -= whole;
    return static_cast<std::uint64_t>(whole);
  }

 private:
  double carried_ = 0;
};

class Writing {
 public:
  Writing(const Profile& profile, ByteSink& to) : profile_(profile), to_(to) { string(""); }

  void write() {
    value_type(1, "alloc_objects", "count");
    value_type(1, "alloc_space", "bytes");
    value_type(1, "inuse_objects", "count");
    value_type(1, "inuse_space", "bytes");
    samples();
    mappings();
    locations();
    const Recording& recording = profile_.recording;
    ProtobufMessage rest;
    rest.number(9, recording.meta_number("start_realtime_ns"));
    rest.number(10, static_cast<std::uint64_t>(recording.end_ns));
    rest.number(12, profile_.interval_bytes());
    value_type(11, "space", "bytes");
    rest.number(14, string("inuse_space"));
    to_.write(rest.text());
    for (const std::string& text : strings_in_order_) {
      ProtobufMessage entry;
      to_.write(entry.bytes(6, text).text());
    }
  }

 private:
  std::uint64_t string(const std::string& text) {
    const auto [found, is_new] = strings_.try_emplace(text, strings_.size());
    if (is_new) strings_in_order_.push_back(valid_utf8(text));
    return found->second;
  }

  void put(unsigned field, const ProtobufMessage& message) {
    ProtobufMessage outer;
    to_.write(outer.message(field, message).text());
  }

  void value_type(unsigned field, const char* type, const char* unit) {
    ProtobufMessage message;
    message.number(1, string(type)).number(2, string(unit));
    put(field, message);
  }

  // Stack, type (by its name), class of size, thread, generation, age: everything is one number.
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t,
                         std::uint64_t>;

  void samples() {
    std::map<Key, Values> rows;
    for (const Sample& sample : profile_.recording.samples) {
      const std::uint64_t type = sample.type == 0 ? 0 : string(profile_.type_name(sample.type));
      Values& row = rows[{profile_.vertex_of(sample), type, std::bit_ceil(sample.bytes),
                          sample.stream, string(generation_of(sample)), string(age_of(sample))}];
      row.objects += sample.objects;
      row.bytes += static_cast<double>(sample.weight);
      if (sample.fate != Fate::kLive) continue;
      row.live_objects += sample.objects;
      row.live_bytes += static_cast<double>(sample.weight);
    }
    Rounding objects;
    Rounding live_objects;
    for (const auto& [key, row] : rows) {
      ProtobufMessage values;
      values.varint(objects.next(row.objects)).varint(static_cast<std::uint64_t>(row.bytes));
      values.varint(live_objects.next(row.live_objects));
      values.varint(static_cast<std::uint64_t>(row.live_bytes));
      sample(key, values);
    }
  }

  void sample(const Key& key, const ProtobufMessage& values) {
    const auto& [vertex, type, size, stream, generation, age] = key;
    ProtobufMessage locations;
    const CallTree& tree = profile_.tree;
    for (std::uint32_t at = vertex; at != 0; at = tree.vertices[at].parent) {
      locations.varint(std::uint64_t{tree.vertices[at].frame} + 1);
    }
    // pprof shows nothing for a sample without a place: frame 0 is "(no stack)".
    if (vertex == 0) locations.varint(1);
    ProtobufMessage message;
    message.bytes(1, locations.text()).bytes(2, values.text());
    if (type != 0) label(message, "type", type);
    label(message, "generation", generation);
    label(message, "age", age);
    label(message, "thread", string(thread_name(stream)));
    ProtobufMessage bytes;
    bytes.number(1, string("bytes")).number(3, size).number(4, string("bytes"));
    message.message(3, bytes);
    put(2, message);
  }

  void label(ProtobufMessage& sample, const char* key, std::uint64_t text) {
    ProtobufMessage message;
    message.number(1, string(key)).number(2, text);
    sample.message(3, message);
  }

  std::string thread_name(std::uint32_t stream) const {
    const auto& threads = profile_.recording.definitions.threads;
    const auto found = threads.find(stream);
    const std::string name =
        found == threads.end() ? "" : profile_.recording.text(found->second.name);
    return name.empty() ? "thread " + std::to_string(stream) : name;
  }

  void mappings() {
    const std::vector<Module>& modules = profile_.recording.definitions.modules;
    for (std::size_t i = 1; i < modules.size(); ++i) {
      const std::string& path = profile_.recording.text(modules[i].path);
      mapping_of_path_.try_emplace(path, i);
      ProtobufMessage message;
      message.number(1, i).number(2, modules[i].start).number(3, modules[i].end);
      message.number(5, string(path));
      message.number(6, string(profile_.recording.text(modules[i].build_id)));
      // Names are here already: pprof must not look for them.
      message.number(7, 1).number(8, 1).number(9, 1).number(10, 1);
      put(3, message);
    }
  }

  void locations() {
    const CallTree& tree = profile_.tree;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> functions;
    for (std::size_t i = 0; i < tree.frames.size(); ++i) {
      const Frame& frame = tree.frames[i];
      const auto [function, is_new] =
          functions.try_emplace({frame.name, frame.file}, functions.size() + 1);
      if (is_new) {
        const std::uint64_t name = string(tree.texts[frame.name]);
        ProtobufMessage message;
        message.number(1, function->second).number(2, name).number(3, name);
        put(5, message.number(4, string(tree.texts[frame.file])));
      }
      ProtobufMessage line;
      line.number(1, function->second).number(2, frame.line);
      ProtobufMessage location;
      location.number(1, i + 1);
      const auto mapping = mapping_of_path_.find(tree.texts[frame.module]);
      if (mapping != mapping_of_path_.end()) location.number(2, mapping->second);
      put(4, location.message(4, line));
    }
  }

  const Profile& profile_;
  ByteSink& to_;
  std::unordered_map<std::string, std::uint64_t> strings_;
  std::vector<std::string> strings_in_order_;
  std::unordered_map<std::string, std::uint64_t> mapping_of_path_;
};

}  // namespace

void write_pprof(const Profile& profile, ByteSink& to) {
  Writing(profile, to).write();
  to.finish();
}

}  // namespace fallow::profile
