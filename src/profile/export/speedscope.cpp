// speedscope's own JSON: one profile for each weight over the same frames.
#include <fmt/format.h>

#include <unordered_map>

#include "profile/export/exporter.h"
#include "profile/export/json_writer.h"
#include "profile/export/stack_rows.h"

namespace fallow::profile {
namespace {

class Writing {
 public:
  Writing(const Profile& profile, const ExportOptions& options, ByteSink& to)
      : profile_(profile), rows_(stack_rows_of(profile, options)), json_(to) {
    for (const Frame& frame : profile.tree.frames) {
      frames_.push_back(
          {profile.tree.texts[frame.name], profile.tree.texts[frame.file], frame.line});
    }
    for (const Site& site : rows_.sites) stacks_.push_back(stack_of(site));
    if (rows_.other_count != 0) {
      stacks_.push_back({extra("(other)")});
      rows_.sites.push_back({0, 0, rows_.other});
    }
  }

  void write() {
    json_.begin_object();
    json_.member("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.member("exporter", "fallow");
    json_.key("shared").begin_object().key("frames").begin_array();
    for (const WrittenFrame& frame : frames_) {
      json_.begin_object().member("name", frame.name);
      if (!frame.file.empty()) json_.member("file", frame.file);
      if (frame.line != 0) json_.member("line", frame.line);
      json_.end_object();
    }
    json_.end_array().end_object().key("profiles").begin_array();
    profile("allocated", ExportWeight::kAllocated);
    profile("live at the end", ExportWeight::kLive);
    profile("died in the nursery", ExportWeight::kDied);
    json_.end_array().end_object();
    json_.flush();
  }

 private:
  struct WrittenFrame {
    std::string name;
    std::string file;
    std::uint32_t line;
  };

  std::size_t extra(const std::string& name) {
    const auto [found, is_new] = extra_.try_emplace(name, frames_.size());
    if (is_new) frames_.push_back({name, "", 0});
    return found->second;
  }

  std::vector<std::size_t> stack_of(const Site& site) {
    const ShortStack stack = short_stack_of(profile_.tree, site.vertex);
    std::vector<std::size_t> frames;
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
      if (stack.cut != 0 && i == stack.cut_at) {
        frames.push_back(extra(fmt::format("({} frames left out)", stack.cut)));
      }
      frames.push_back(stack.frames[i]);
    }
    if (frames.empty()) frames.push_back(0);
    if (site.type != 0) frames.push_back(extra(profile_.type_name(site.type)));
    return frames;
  }

  void profile(const char* name, ExportWeight weight) {
    double total = 0;
    json_.begin_object().member("type", "sampled").member("name", name).member("unit", "bytes");
    json_.key("samples").begin_array();
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      const double bytes = weight_of(rows_.sites[i].bytes, weight).bytes();
      if (bytes <= 0) continue;
      total += bytes;
      json_.begin_array();
      for (const std::size_t frame : stacks_[i]) json_.value(frame);
      json_.end_array();
    }
    json_.end_array().key("weights").begin_array();
    for (const Site& site : rows_.sites) {
      const double bytes = weight_of(site.bytes, weight).bytes();
      if (bytes > 0) json_.value(bytes);
    }
    json_.end_array().member("startValue", 0).member("endValue", total).end_object();
  }

  const Profile& profile_;
  StackRows rows_;
  JsonWriter json_;
  std::vector<WrittenFrame> frames_;
  std::unordered_map<std::string, std::size_t> extra_;
  std::vector<std::vector<std::size_t>> stacks_;
};

}  // namespace

void write_speedscope(const Profile& profile, const ExportOptions& options, ByteSink& to) {
  Writing(profile, options, to).write();
  to.finish();
}

}  // namespace fallow::profile
