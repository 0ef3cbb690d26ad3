// The processed format of the Firefox Profiler, version 66: later viewers upgrade it at load.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "profile/export/exporter.h"
#include "profile/export/firefox_stacks.h"
#include "profile/export/firefox_threads.h"
#include "profile/export/json_writer.h"

namespace fallow::profile {
namespace {

std::string command_of(const Recording& recording) {
  std::string command = recording.meta_value("command");
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

std::string program_of(const Recording& recording) {
  const std::string command = recording.meta_value("command");
  const std::string path = command.substr(0, command.find('\0'));
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.empty() ? "program" : name;
}

class Writing {
 public:
  Writing(const Profile& profile, ByteSink& to)
      : profile_(profile),
        recording_(profile.recording),
        json_(to),
        stacks_(profile),
        threads_(firefox_threads_of(profile, stacks_)) {}

  void write() {
    json_.begin_object();
    write_meta();
    stacks_.write_libraries(json_);
    json_.key("pages").begin_array().end_array();
    write_counters();
    write_firefox_threads(profile_, threads_, stacks_, json_);
    // Last: the threads have added texts and rows.
    stacks_.write_shared(json_);
    json_.end_object();
    json_.flush();
  }

 private:
  void write_meta() {
    const std::uint64_t period_ns = recording_.meta_number("time_sampling_ns");
    json_.key("meta").begin_object();
    json_.member("interval", period_ns == 0 ? 1.0 : static_cast<double>(period_ns) * 1e-6);
    json_.member("startTime",
                 static_cast<double>(recording_.meta_number("start_realtime_ns")) * 1e-6);
    json_.member("processType", 0).member("product", program_of(recording_));
    json_.member("stackwalk", 1).member("version", 24).member("preprocessedProfileVersion", 66);
    write_firefox_categories(json_);
    write_firefox_marker_schemas(json_);
    json_.member("symbolicated", true).member("importedFrom", "fallow");
    json_.member("arguments", command_of(recording_)).member("usesOnlyOneStackType", true);
    json_.member("sourceCodeIsNotOnSearchfox", true).member("keepProfileThreadOrder", true);
    json_.member("platform", "X11");
    if (!recording_.meta_value("cpu").empty()) {
      json_.member("CPUName", recording_.meta_value("cpu"));
    }
    json_.key("sampleUnits").begin_object().member("time", "ms").member("eventDelay", "ms");
    json_.member("threadCPUDelta", "ns").end_object();
    for (const char* const key : {"initialVisibleThreads", "initialSelectedThreads"}) {
      json_.key(key).begin_array().value(0).end_array();
    }
    write_extra();
    json_.end_object();
  }

  void entry(const char* label, const char* format, double value) {
    json_.begin_object().member("label", label).member("format", format).member("value", value);
    json_.end_object();
  }

  void write_extra() {
    double lost_samples = 0;
    double lost_bytes = 0;
    for (const Loss& loss : recording_.losses) {
      lost_samples += loss.samples;
      lost_bytes += loss.bytes;
    }
    const Breakdown total = total_of(profile_);
    json_.key("extra").begin_array().begin_object().member("label", "Allocation sampling");
    json_.key("entries").begin_array();
    entry("Mean distance of samples", "bytes", static_cast<double>(profile_.interval_bytes()));
    entry("Samples", "integer", static_cast<double>(total.allocated.samples()));
    entry("Allocated (estimate)", "bytes", total.allocated.bytes());
    entry("Allocated, 95 % from", "bytes", total.allocated.interval().low);
    entry("Allocated, 95 % to", "bytes", total.allocated.interval().high);
    entry("Alive at the end (estimate)", "bytes", total.live.bytes());
    entry("Samples lost", "integer", lost_samples);
    entry("Lost (estimate)", "bytes", lost_bytes);
    if (recording_.self) {
      entry("Time inside samples", "nanoseconds",
            static_cast<double>(recording_.self->sampling_ns));
      entry("CPU time of the writer", "nanoseconds",
            static_cast<double>(recording_.self->writer_ns));
    }
    if (threads_.merged_ms > 0) {
      entry("Allocations of one stack were merged within", "milliseconds", threads_.merged_ms);
    }
    json_.end_array().end_object().end_array();
  }

  struct Point {
    double time_ms;
    double level;
  };

  void write_counters() {
    json_.key("counters").begin_array();
    std::map<std::uint64_t, std::vector<Point>> heaps;
    std::vector<Point> resident;
    for (const Level& level : recording_.levels) {
      const double time = firefox_ms(level.time_ns);
      if (level.heap != 0) heaps[level.heap].push_back({time, static_cast<double>(level.used)});
      if (level.resident != 0) resident.push_back({time, static_cast<double>(level.resident)});
    }
    counter("Sampled live memory", "Live bytes, estimated from samples", "red", live_points());
    for (auto& [heap, points] : heaps) {
      counter(fmt::format("Heap {}", heap), "Bytes in use, as the heap counts them", "purple",
              std::move(points));
    }
    if (!resident.empty()) {
      counter("Resident memory", "Of the process", "teal", std::move(resident));
    }
    json_.end_array();
  }

  std::vector<Point> live_points() const {
    std::map<std::int64_t, double> changes;
    constexpr std::int64_t kMostPoints = 4000;
    const std::int64_t bin = std::max<std::int64_t>(recording_.end_ns / kMostPoints, 1);
    for (const Sample& sample : recording_.samples) {
      changes[std::max<std::int64_t>(sample.time_ns, 0) / bin] +=
          static_cast<double>(sample.weight);
      if (sample.fate == Fate::kLive) continue;
      changes[std::max<std::int64_t>(sample.fate_ns, 0) / bin] -=
          static_cast<double>(sample.weight);
    }
    std::vector<Point> points;
    double level = 0;
    for (const auto& [at, change] : changes) {
      level += change;
      points.push_back({firefox_ms(at * bin), level});
    }
    return points;
  }

  void counter(const std::string& name, const char* description, const char* color,
               std::vector<Point> points) {
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return std::tie(a.time_ms, a.level) < std::tie(b.time_ms, b.level);
    });
    // The viewer takes the first row's difference as 0.
    points.insert(points.begin(), {0, 0});
    json_.begin_object().member("name", name).member("category", "Memory");
    json_.member("description", description).member("pid", firefox_process_id(profile_));
    json_.member("mainThreadIndex", 0);
    json_.key("samples").begin_object().member("length", points.size());
    json_.column("time", points.size(),
                 [&](JsonWriter& out, std::size_t i) { out.value(points[i].time_ms); });
    json_.column("count", points.size(), [&](JsonWriter& out, std::size_t i) {
      out.value(i == 0 ? 0.0 : points[i].level - points[i - 1].level);
    });
    json_.end_object();
    write_display(name, color);
    json_.end_object();
  }

  void write_display(const std::string& name, const char* color) {
    json_.key("display").begin_object().member("graphType", "line-accumulated");
    json_.member("unit", "bytes").member("color", color);
    json_.member("markerSchemaLocation", "timeline-memory").member("sortWeight", 10);
    json_.member("label", name).key("tooltipRows").begin_array();
    constexpr std::pair<const char*, const char*> kRows[] = {
        {"accumulated", "at this moment"},
        {"count-range", "range in this selection"},
    };
    for (const auto& [source, label] : kRows) {
      json_.begin_object().member("type", "value").member("source", source);
      json_.key("format").begin_object().member("unit", "bytes").end_object();
      json_.member("label", label).end_object();
    }
    json_.end_array().end_object();
  }

  const Profile& profile_;
  const Recording& recording_;
  JsonWriter json_;
  FirefoxStacks stacks_;
  FirefoxThreads threads_;
};

}  // namespace

void write_firefox(const Profile& profile, ByteSink& to) {
  Writing(profile, to).write();
  to.finish();
}

}  // namespace fallow::profile
