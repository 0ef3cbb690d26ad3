#include "profile/export/firefox_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace fallow::profile {
namespace {

bool is_over(const Sample& sample) { return sample.fate != Fate::kLive; }

std::size_t rows_of(const Profile& profile) {
  const std::vector<Sample>& samples = profile.recording.samples;
  const auto ended = std::count_if(samples.begin(), samples.end(), is_over);
  return samples.size() + static_cast<std::size_t>(ended);
}

// Allocations that are one row, and their ends another.
struct Life {
  std::int64_t stack;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint64_t weight;
  std::uint32_t stream;
  bool over;
};

std::vector<Life> lives_of(const Profile& profile, FirefoxStacks& stacks) {
  std::vector<Life> lives;
  lives.reserve(profile.recording.samples.size());
  for (const Sample& sample : profile.recording.samples) {
    lives.push_back({stacks.stack_with_type(sample), sample.time_ns, sample.fate_ns, sample.weight,
                     sample.stream, is_over(sample)});
  }
  return lives;
}

std::vector<Life> merged(const std::vector<Life>& lives, std::int64_t bin_ns) {
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, Life> bins;
  for (const Life& life : lives) {
    const std::int64_t end_bin = life.over ? life.end_ns / bin_ns : -1;
    const auto [found, is_new] =
        bins.try_emplace({life.stream, life.stack, life.begin_ns / bin_ns, end_bin}, life);
    if (is_new) continue;
    found->second.weight += life.weight;
    found->second.end_ns = std::max(found->second.end_ns, life.end_ns);
  }
  std::vector<Life> few;
  few.reserve(bins.size());
  for (const auto& [key, life] : bins) few.push_back(life);
  return few;
}

std::size_t rows_of(const std::vector<Life>& lives) {
  const auto over = std::count_if(lives.begin(), lives.end(), [](const Life& l) { return l.over; });
  return lives.size() + static_cast<std::size_t>(over);
}

class ThreadList {
 public:
  explicit ThreadList(const Profile& profile) : profile_(profile) {}

  FirefoxThread& of(std::uint32_t stream) {
    const auto [found, is_new] = index_.try_emplace(stream, threads_.size());
    if (is_new) threads_.push_back(named(stream));
    return threads_[found->second];
  }

  std::vector<FirefoxThread> take() {
    if (threads_.empty()) of(1);
    // The lowest stream is the thread that began first.
    std::sort(threads_.begin(), threads_.end(),
              [](const FirefoxThread& a, const FirefoxThread& b) { return a.stream < b.stream; });
    return std::move(threads_);
  }

 private:
  FirefoxThread named(std::uint32_t stream) const {
    FirefoxThread thread;
    thread.stream = stream;
    thread.id = stream;
    const auto& known = profile_.recording.definitions.threads;
    if (const auto found = known.find(stream); found != known.end()) {
      thread.name = profile_.recording.text(found->second.name);
      constexpr std::uint64_t kMaxId = std::uint64_t{1} << 52;
      if (found->second.id < kMaxId) thread.id = static_cast<std::int64_t>(found->second.id);
    }
    if (thread.name.empty()) thread.name = fmt::format("thread {}", stream);
    return thread;
  }

  const Profile& profile_;
  std::unordered_map<std::uint32_t, std::size_t> index_;
  std::vector<FirefoxThread> threads_;
};

void add_allocations(const std::vector<Life>& lives, ThreadList& threads) {
  std::uint64_t id = 0;
  for (const Life& life : lives) {
    FirefoxThread& thread = threads.of(life.stream);
    const auto weight = static_cast<std::int64_t>(life.weight);
    thread.allocations.push_back({firefox_ms(life.begin_ns), ++id, weight, life.stack});
    if (life.over) {
      thread.allocations.push_back({firefox_ms(life.end_ns), id, -weight, life.stack});
    }
  }
}

void sort_by_time(const Profile& profile, FirefoxThread& thread) {
  std::sort(thread.allocations.begin(), thread.allocations.end(),
            [](const FirefoxAllocation& a, const FirefoxAllocation& b) {
              // An object that dies in the moment of its birth is born first.
              return std::make_tuple(a.time_ms, a.weight < 0, a.id) <
                     std::make_tuple(b.time_ms, b.weight < 0, b.id);
            });
  const std::vector<TimeSample>& samples = profile.recording.time_samples;
  std::sort(thread.time_samples.begin(), thread.time_samples.end(),
            [&samples](std::uint32_t a, std::uint32_t b) {
              return std::make_tuple(samples[a].time_ns, a) <
                     std::make_tuple(samples[b].time_ns, b);
            });
}

void write_stack(JsonWriter& json, std::int64_t stack) {
  stack < 0 ? json.null() : json.value(stack);
}

void write_time_samples(const Profile& profile, const FirefoxThread& thread, FirefoxStacks& stacks,
                        JsonWriter& json) {
  const std::size_t count = thread.time_samples.size();
  const auto sample = [&](std::size_t i) -> const TimeSample& {
    return profile.recording.time_samples[thread.time_samples[i]];
  };
  json.key("samples").begin_object().member("length", count);
  json.member("weightType", "tracing-ms");
  json.column("stack", count, [&](JsonWriter& out, std::size_t i) {
    const std::uint32_t vertex = profile.tree.vertex_of_node[sample(i).node];
    write_stack(out, sample(i).in_collector ? stacks.stack_in_collector(vertex)
                                            : FirefoxStacks::stack(vertex));
  });
  json.column("time", count,
              [&](JsonWriter& out, std::size_t i) { out.value(firefox_ms(sample(i).time_ns)); });
  json.column("weight", count, [&](JsonWriter& out, std::size_t i) {
    out.value(static_cast<double>(sample(i).weight_ns) * 1e-6);
  });
  json.end_object();
}

void write_allocations(const FirefoxThread& thread, JsonWriter& json) {
  const std::vector<FirefoxAllocation>& rows = thread.allocations;
  const std::size_t count = rows.size();
  json.key("nativeAllocations").begin_object().member("length", count);
  json.member("weightType", "bytes");
  json.column("time", count, [&](JsonWriter& out, std::size_t i) { out.value(rows[i].time_ms); });
  json.column("weight", count, [&](JsonWriter& out, std::size_t i) { out.value(rows[i].weight); });
  json.column("stack", count,
              [&](JsonWriter& out, std::size_t i) { write_stack(out, rows[i].stack); });
  json.column("memoryAddress", count,
              [&](JsonWriter& out, std::size_t i) { out.value(rows[i].id); });
  json.column("threadId", count, [&](JsonWriter& out, std::size_t) { out.value(thread.id); });
  json.end_object();
}

}  // namespace

double firefox_ms(std::int64_t time_ns) {
  return static_cast<double>(std::max<std::int64_t>(time_ns, 0)) * 1e-6;
}

std::string firefox_process_id(const Profile& profile) {
  return std::to_string(profile.recording.meta_number("pid"));
}

FirefoxThreads firefox_threads_of(const Profile& profile, FirefoxStacks& stacks,
                                  std::size_t max_rows) {
  FirefoxThreads result;
  std::vector<Life> lives = lives_of(profile, stacks);
  constexpr std::int64_t kFirstBinNs = 10'000'000;
  if (rows_of(profile) > max_rows) {
    for (std::int64_t bin_ns = kFirstBinNs;; bin_ns *= 10) {
      lives = merged(lives, bin_ns);
      result.merged_ms = static_cast<double>(bin_ns) * 1e-6;
      // More stacks than rows, each with one life: there is nothing left to merge.
      if (rows_of(lives) <= max_rows || bin_ns > profile.recording.end_ns) break;
    }
  }
  ThreadList threads(profile);
  add_allocations(lives, threads);
  for (std::uint32_t i = 0; i < profile.recording.time_samples.size(); ++i) {
    threads.of(profile.recording.time_samples[i].stream).time_samples.push_back(i);
  }
  result.threads = threads.take();
  for (FirefoxThread& thread : result.threads) sort_by_time(profile, thread);
  return result;
}

void write_firefox_threads(const Profile& profile, const FirefoxThreads& threads,
                           FirefoxStacks& stacks, JsonWriter& json) {
  const double end_ms = firefox_ms(profile.recording.end_ns);
  json.key("threads").begin_array();
  bool is_main = true;
  for (const FirefoxThread& thread : threads.threads) {
    json.begin_object().member("processType", "default").member("processStartupTime", 0);
    json.member("processShutdownTime", end_ms).member("registerTime", 0);
    json.member("unregisterTime", end_ms).key("pausedRanges").begin_array().end_array();
    json.member("name", thread.name).member("isMainThread", is_main);
    json.member("pid", firefox_process_id(profile)).member("tid", thread.id);
    json.member("showMarkersInTimeline", is_main);
    write_time_samples(profile, thread, stacks, json);
    if (!thread.allocations.empty()) write_allocations(thread, json);
    write_firefox_markers(profile, is_main, stacks, json);
    json.end_object();
    is_main = false;
  }
  json.end_array();
}

}  // namespace fallow::profile
