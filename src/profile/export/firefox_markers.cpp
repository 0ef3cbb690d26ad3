// What collections did, as markers with schemas of their own.
#include <map>
#include <vector>

#include "profile/analysis/pauses.h"
#include "profile/export/firefox_threads.h"

namespace fallow::profile {
namespace {

struct Field {
  const char* key;
  const char* label;
  const char* format;
};

struct Schema {
  const char* name;
  const char* label;
  std::vector<Field> fields;
};

const std::vector<Schema>& schemas() {
  static const std::vector<Schema> kSchemas = {
      {"FallowMinor",
       "minor {marker.data.number}: {marker.data.survived} of {marker.data.before} survived",
       {{"heap", "Heap", "integer"},
        {"number", "Collection", "integer"},
        {"before", "Bytes before", "bytes"},
        {"survived", "Bytes that survived", "bytes"},
        {"cpu", "CPU time", "nanoseconds"}}},
      {"FallowStep",
       "step of collection {marker.data.number}: {marker.data.from} to {marker.data.to}",
       {{"heap", "Heap", "integer"},
        {"number", "Collection", "integer"},
        {"from", "State before", "string"},
        {"to", "State after", "string"},
        {"before", "Bytes before", "bytes"},
        {"after", "Bytes afterwards", "bytes"},
        {"cpu", "CPU time", "nanoseconds"}}},
      {"FallowFull",
       "full collection {marker.data.number}: {marker.data.before} to {marker.data.after}",
       {{"heap", "Heap", "integer"},
        {"number", "Collection", "integer"},
        {"before", "Bytes before", "bytes"},
        {"after", "Bytes afterwards", "bytes"},
        {"cpu", "CPU time", "nanoseconds"}}},
      {"FallowCycle",
       "cycle {marker.data.number}: {marker.data.steps} steps",
       {{"heap", "Heap", "integer"},
        {"number", "Collection", "integer"},
        {"steps", "Steps", "integer"},
        {"paused", "Paused for", "nanoseconds"}}},
  };
  return kSchemas;
}

// A full collection from its first step to its last.
struct Cycle {
  std::uint64_t heap = 0;
  std::uint64_t number = 0;
  std::uint64_t steps = 0;
  std::uint64_t paused_ns = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

std::vector<Cycle> cycles_of(const std::vector<Pause>& pauses) {
  constexpr auto kIdle = static_cast<std::uint8_t>(CycleState::kIdle);
  std::map<std::uint64_t, Cycle> open;  // by heap
  std::vector<Cycle> cycles;
  for (const Pause& pause : pauses) {
    if (pause.kind != PauseKind::kStep) continue;
    const auto [found, is_new] = open.try_emplace(pause.heap);
    Cycle& cycle = found->second;
    if (is_new) cycle = {pause.heap, pause.number, 0, 0, pause.begin_ns(), 0};
    ++cycle.steps;
    cycle.paused_ns += pause.wall_ns;
    cycle.end_ns = std::max(pause.end_ns, cycle.begin_ns);
    if (pause.state_after != kIdle) continue;
    cycles.push_back(cycle);
    open.erase(found);
  }
  for (const auto& [heap, cycle] : open) cycles.push_back(cycle);
  return cycles;
}

const char* schema_of(PauseKind kind) {
  switch (kind) {
    case PauseKind::kMinor:
      return "FallowMinor";
    case PauseKind::kStep:
      return "FallowStep";
    case PauseKind::kFull:
      break;
  }
  return "FallowFull";
}

void write_data(const Pause& pause, JsonWriter& json) {
  json.begin_object().member("type", schema_of(pause.kind));
  json.member("heap", pause.heap).member("number", pause.number);
  json.member("before", pause.bytes_before);
  json.member(pause.kind == PauseKind::kMinor ? "survived" : "after", pause.bytes_after);
  if (pause.kind == PauseKind::kStep) {
    json.member("from", state_name(pause.state_before)).member("to", state_name(pause.state_after));
  }
  json.member("cpu", pause.cpu_ns).end_object();
}

void write_data(const Cycle& cycle, JsonWriter& json) {
  json.begin_object().member("type", "FallowCycle").member("heap", cycle.heap);
  json.member("number", cycle.number).member("steps", cycle.steps);
  json.member("paused", cycle.paused_ns).end_object();
}

}  // namespace

void write_firefox_marker_schemas(JsonWriter& json) {
  json.key("markerSchema").begin_array();
  for (const Schema& schema : schemas()) {
    json.begin_object().member("name", schema.name).key("display").begin_array();
    for (const char* const place :
         {"marker-chart", "marker-table", "timeline-overview", "timeline-memory"}) {
      json.value(place);
    }
    json.end_array();
    for (const char* const label : {"tooltipLabel", "tableLabel", "chartLabel"}) {
      json.member(label, schema.label);
    }
    json.key("fields").begin_array();
    for (const Field& field : schema.fields) {
      json.begin_object().member("key", field.key).member("label", field.label);
      json.member("format", field.format).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_firefox_markers(const Profile& profile, bool with_markers, FirefoxStacks& stacks,
                           JsonWriter& json) {
  const std::vector<Pause> none;
  const std::vector<Pause>& pauses = with_markers ? profile.recording.pauses : none;
  const std::vector<Cycle> cycles = cycles_of(pauses);
  const std::size_t count = pauses.size() + cycles.size();
  const auto is_pause = [&](std::size_t i) { return i < pauses.size(); };
  const auto cycle = [&](std::size_t i) -> const Cycle& { return cycles[i - pauses.size()]; };
  json.key("markers").begin_object().member("length", count);
  json.column("data", count, [&](JsonWriter& out, std::size_t i) {
    is_pause(i) ? write_data(pauses[i], out) : write_data(cycle(i), out);
  });
  json.column("name", count, [&](JsonWriter& out, std::size_t i) {
    constexpr const char* kNames[] = {"Minor collection", "Collection step", "Full collection"};
    out.value(stacks.text(is_pause(i) ? kNames[static_cast<std::size_t>(pauses[i].kind) - 1]
                                      : "Collection cycle"));
  });
  json.column("startTime", count, [&](JsonWriter& out, std::size_t i) {
    out.value(firefox_ms(is_pause(i) ? pauses[i].begin_ns() : cycle(i).begin_ns));
  });
  json.column("endTime", count, [&](JsonWriter& out, std::size_t i) {
    out.value(firefox_ms(is_pause(i) ? pauses[i].end_ns : cycle(i).end_ns));
  });
  json.column("phase", count, [](JsonWriter& out, std::size_t) { out.value(1); });
  json.column("category", count, [](JsonWriter& out, std::size_t) {
    out.value(static_cast<unsigned>(FirefoxCategory::kCollector));
  });
  json.end_object();
}

}  // namespace fallow::profile
