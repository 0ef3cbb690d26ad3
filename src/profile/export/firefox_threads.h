#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/analysis/profile.h"
#include "profile/export/firefox_stacks.h"
#include "profile/export/json_writer.h"

namespace fallow::profile {

/// An allocation or its end, in the thread that allocated.
struct FirefoxAllocation {
  double time_ms = 0;
  std::uint64_t id = 0;
  std::int64_t weight = 0;  ///< negative: freed
  std::int64_t stack = -1;
};

struct FirefoxThread {
  std::uint32_t stream = 0;
  std::string name;
  std::int64_t id = 0;
  std::vector<FirefoxAllocation> allocations;  ///< by time
  std::vector<std::uint32_t> time_samples;     ///< indices, by time
};

struct FirefoxThreads {
  std::vector<FirefoxThread> threads;  ///< never empty; the first is the main one
  double merged_ms = 0;  ///< allocations of one stack within this time became one row; 0: none did
};

/// A viewer's limit: beyond this many rows, allocations of one stack that begin and end at about
/// the same times become one.
inline constexpr std::size_t kMaxFirefoxRows = 3'000'000;

FirefoxThreads firefox_threads_of(const Profile& profile, FirefoxStacks& stacks,
                                  std::size_t max_rows = kMaxFirefoxRows);

/// The member `threads`. The first one gets the markers of collections.
void write_firefox_threads(const Profile& profile, const FirefoxThreads& threads,
                           FirefoxStacks& stacks, JsonWriter& json);

/// The member `markerSchema`.
void write_firefox_marker_schemas(JsonWriter& json);

/// The member `markers` of a thread: all pauses, cycles and losses, or none.
void write_firefox_markers(const Profile& profile, bool with_markers, FirefoxStacks& stacks,
                           JsonWriter& json);

/// Milliseconds since the start; nothing happened before it.
double firefox_ms(std::int64_t time_ns);

std::string firefox_process_id(const Profile& profile);

}  // namespace fallow::profile
