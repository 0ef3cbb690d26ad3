// The page of `fallow report`: src/profile/export/report with the recording's figures inside.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "profile/analysis/pauses.h"
#include "profile/analysis/survival.h"
#include "profile/export/clean_text.h"
#include "profile/export/exporter.h"
#include "profile/export/json_writer.h"
#include "profile/export/report_assets.h"
#include "profile/export/report_tree.h"

namespace fallow::profile {
namespace {

constexpr std::size_t kMaxRows = 400'000;
constexpr std::size_t kMaxPauses = 40'000;
constexpr std::size_t kMaxLevels = 4'000;
constexpr std::size_t kLayers = 32;
constexpr std::size_t kColumns = 240;

double ms(std::int64_t time_ns) {
  return static_cast<double>(std::max<std::int64_t>(time_ns, 0)) * 1e-6;
}

class ReportData {
 public:
  ReportData(const Profile& profile, ByteSink& to)
      : profile_(profile),
        recording_(profile.recording),
        tree_(report_tree_of(profile)),
        rows_(report_rows_of(profile, tree_, kMaxRows)),
        total_(total_of(profile)),
        json_(to) {}

  void write() {
    json_.begin_object();
    write_head();
    write_tree();
    write_rows();
    write_sediment();
    write_types();
    write_pauses();
    write_levels();
    write_notes();
    json_.end_object();
    json_.flush();
  }

 private:
  void write_head() {
    const std::string command = recording_.meta_value("command");
    const std::string path = command.substr(0, command.find('\0'));
    const std::string program = path.substr(path.find_last_of('/') + 1);
    json_.member("program", program.empty() ? "program" : program);
    json_.member("command", one_line(command)).member("end_ms", ms(recording_.end_ns));
    json_.member("interval_bytes", profile_.interval_bytes());
    const bool generational = total_.died_young.samples() != 0 || total_.tenured.samples() != 0;
    json_.member("generational", generational);
    json_.key("total").begin_object();
    write_sum("bytes", "exact", "k", total_.allocated);
    write_sum("live", "live_exact", "live_k", total_.live);
    json_.member("samples", total_.allocated.samples());
    json_.member("live_samples", total_.live.samples());
    json_.member("young", total_.died_young.bytes()).end_object();
    double lost_samples = 0;
    double lost_bytes = 0;
    for (const Loss& loss : recording_.losses) {
      lost_samples += loss.samples;
      lost_bytes += loss.bytes;
    }
    json_.key("lost").begin_object().member("samples", lost_samples).member("bytes", lost_bytes);
    json_.end_object().member("cost", cost());
    json_.column("warnings", profile_.warnings.size(), [&](JsonWriter& out, std::size_t i) {
      out.value(one_line(profile_.warnings[i]));
    });
  }

  std::string cost() const {
    if (!recording_.self || recording_.self->process_ns == 0) return {};
    const SelfAccount& self = *recording_.self;
    return fmt::format("cost {:.2g} % of CPU time",
                       static_cast<double>(self.sampling_ns + self.writer_ns) /
                           static_cast<double>(self.process_ns) * 100);
  }

  void write_sum(const char* bytes, const char* exact, const char* k, const Tally& tally) {
    json_.member(bytes, tally.bytes()).member(exact, tally.exact_bytes());
    json_.member(k, tally.uncertain_samples());
  }

  void write_tree() {
    const std::size_t count = tree_.nodes.size();
    const auto texts = [&](const char* name, const Texts& all) {
      json_.column(name, all.size(), [&](JsonWriter& out, std::size_t i) {
        out.value(one_line(all[static_cast<std::uint32_t>(i)]));
      });
    };
    texts("names", tree_.names);
    texts("files", tree_.files);
    json_.key("tree").begin_object();
    const auto column = [&](const char* name, auto&& value_of) {
      json_.column(name, count, [&](JsonWriter& out, std::size_t i) {
        out.value(static_cast<std::uint32_t>(value_of(tree_.nodes[i])));
      });
    };
    column("parent", [](const ReportTree::Node& node) { return node.parent; });
    column("name", [](const ReportTree::Node& node) { return node.name; });
    column("file", [](const ReportTree::Node& node) { return node.file; });
    column("kind", [](const ReportTree::Node& node) { return node.kind; });
    json_.end_object();
  }

  void write_rows() {
    const std::vector<ReportRow>& rows = rows_.rows;
    json_.member("slices", rows_.slices).key("rows").begin_object();
    json_.column("v", rows.size(),
                 [&](JsonWriter& out, std::size_t i) { out.value(rows[i].node); });
    json_.column("s", rows.size(),
                 [&](JsonWriter& out, std::size_t i) { out.value(rows[i].slice); });
    tally_columns('a', &Breakdown::allocated);
    tally_columns('l', &Breakdown::live);
    tally_columns('y', &Breakdown::died_young);
    tally_columns('t', &Breakdown::tenured);
    json_.end_object();
  }

  void tally_columns(char name, Tally Breakdown::* part) {
    const std::vector<ReportRow>& rows = rows_.rows;
    const std::string bytes(1, name);
    json_.column(bytes, rows.size(),
                 [&](JsonWriter& out, std::size_t i) { out.value((rows[i].bytes.*part).bytes()); });
    json_.column(bytes + "e", rows.size(), [&](JsonWriter& out, std::size_t i) {
      out.value((rows[i].bytes.*part).exact_bytes());
    });
    json_.column(bytes + "k", rows.size(), [&](JsonWriter& out, std::size_t i) {
      out.value((rows[i].bytes.*part).uncertain_samples());
    });
  }

  void write_sediment() {
    const Sediment sediment = sediment_of(profile_, kLayers, kColumns);
    json_.key("sediment").begin_object();
    json_.column("times_ms", kColumns,
                 [&](JsonWriter& out, std::size_t i) { out.value(ms(sediment.times_ns[i])); });
    json_.column("begin_ms", kLayers, [&](JsonWriter& out, std::size_t i) {
      out.value(ms(sediment.layer_begin_ns[i]));
    });
    json_.key("live").begin_array();
    for (const std::vector<double>& layer : sediment.live_bytes) {
      json_.begin_array();
      for (const double bytes : layer) json_.value(bytes);
      json_.end_array();
    }
    json_.end_array().end_object();
  }

  void write_types() {
    constexpr std::size_t kMaxTypes = 200;
    json_.key("types").begin_array();
    std::size_t count = 0;
    for (const SurvivalRow& row : survival_of(profile_)) {
      if (++count > kMaxTypes) break;
      json_.begin_object();
      json_.member("name", row.type == 0 ? "(no type)" : one_line(profile_.type_name(row.type)));
      write_sum("bytes", "exact", "k", row.bytes.allocated);
      json_.member("young", row.bytes.died_young.bytes());
      json_.member("tenured", row.bytes.tenured.bytes());
      json_.member("later", row.bytes.died_later.bytes());
      json_.member("live", row.bytes.live.bytes()).member("unknown", row.bytes.unknown.bytes());
      json_.key("median_ns");
      row.median_age_ns ? json_.value(*row.median_age_ns) : json_.null();
      json_.end_object();
    }
    json_.end_array();
  }

  void write_pauses() {
    PauseSummary summary = pauses_of(recording_, kMaxPauses);
    std::sort(summary.longest.begin(), summary.longest.end());
    const std::vector<std::uint32_t>& shown = summary.longest;
    shown_pauses_ = shown.size();
    const auto column = [&](const char* name, auto&& write) {
      json_.column(name, shown.size(), [&](JsonWriter& out, std::size_t i) {
        write(out, recording_.pauses[shown[i]]);
      });
    };
    json_.key("pauses").begin_object();
    column("kind", [](JsonWriter& out, const Pause& p) { out.value(static_cast<int>(p.kind)); });
    column("begin_ms", [](JsonWriter& out, const Pause& p) { out.value(ms(p.begin_ns())); });
    column("wall_ns", [](JsonWriter& out, const Pause& p) { out.value(p.wall_ns); });
    column("cpu_ns", [](JsonWriter& out, const Pause& p) { out.value(p.cpu_ns); });
    column("number", [](JsonWriter& out, const Pause& p) { out.value(p.number); });
    column("before", [](JsonWriter& out, const Pause& p) { out.value(p.bytes_before); });
    column("after", [](JsonWriter& out, const Pause& p) { out.value(p.bytes_after); });
    column("from", [](JsonWriter& out, const Pause& p) { out.value(state_name(p.state_before)); });
    column("to", [](JsonWriter& out, const Pause& p) { out.value(state_name(p.state_after)); });
    json_.end_object().key("kinds").begin_array();
    for (const PauseRow& row : summary.rows) {
      json_.begin_object().member("kind", static_cast<int>(row.kind)).member("count", row.count);
      json_.member("p50_ns", row.p50_ns).member("p99_ns", row.p99_ns).member("max_ns", row.max_ns);
      json_.member("total_ns", row.total_ns).end_object();
    }
    json_.end_array().key("mmu").begin_array();
    for (const Utilisation& mmu : summary.utilisation) {
      json_.begin_array().value(mmu.window_ms).value(mmu.part).end_array();
    }
    json_.end_array();
  }

  using Points = std::vector<std::pair<std::int64_t, std::uint64_t>>;

  void write_levels() {
    std::map<std::int64_t, std::map<std::uint64_t, std::uint64_t>> used;
    Points resident;
    for (const Level& level : recording_.levels) {
      if (level.heap != 0) used[level.time_ns][level.heap] = level.used;
      if (level.resident != 0) resident.emplace_back(level.time_ns, level.resident);
    }
    // Heaps are read one after the other: each moment has the last level of all.
    std::map<std::uint64_t, std::uint64_t> last;
    Points together;
    for (const auto& [time, heaps] : used) {
      for (const auto& [heap, bytes] : heaps) last[heap] = bytes;
      std::uint64_t sum = 0;
      for (const auto& [heap, bytes] : last) sum += bytes;
      together.emplace_back(time, sum);
    }
    std::sort(resident.begin(), resident.end());
    json_.key("levels").begin_object();
    write_points("used", together);
    write_points("resident", resident);
    json_.end_object();
  }

  void write_points(const char* name, const Points& points) {
    const std::size_t step = points.size() / kMaxLevels + 1;
    const std::size_t count = (points.size() + step - 1) / step;
    json_.key(name).begin_object();
    json_.column("time_ms", count,
                 [&](JsonWriter& out, std::size_t i) { out.value(ms(points[i * step].first)); });
    json_.column("bytes", count,
                 [&](JsonWriter& out, std::size_t i) { out.value(points[i * step].second); });
    json_.end_object();
  }

  void write_notes() {
    json_.key("notes").begin_array();
    if (tree_.left_out != 0) {
      json_.value(fmt::format("The {} smallest places are put together.", tree_.left_out));
    }
    if (shown_pauses_ < recording_.pauses.size()) {
      json_.value(fmt::format("Of {} pauses the {} longest are drawn.", recording_.pauses.size(),
                              shown_pauses_));
    }
    if (recording_.raw_stacks != 0) {
      json_.value(fmt::format("{} stacks were copied and are not unwound.", recording_.raw_stacks));
    }
    json_.end_array();
  }

  const Profile& profile_;
  const Recording& recording_;
  ReportTree tree_;
  ReportRows rows_;
  Breakdown total_;
  std::size_t shown_pauses_ = 0;
  JsonWriter json_;
};

}  // namespace

void write_html(const Profile& profile, ByteSink& to) {
  std::string_view page = kReportPage;
  const auto up_to = [&page](std::string_view mark) {
    const std::size_t at = page.find(mark);
    const std::string_view before = page.substr(0, at);
    page.remove_prefix(at + mark.size());
    return before;
  };
  to.write(up_to("@STYLE@"));
  to.write(kReportStyle);
  to.write(up_to("@DATA@"));
  ReportData(profile, to).write();
  to.write(up_to("@SCRIPT@"));
  for (const char* const script : kReportScripts) to.write(script);
  to.write(page);
  to.finish();
}

}  // namespace fallow::profile
