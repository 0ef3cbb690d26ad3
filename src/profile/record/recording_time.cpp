// Samples of time on their way from the signal handlers into the file.
#include <mutex>
#include <string>

#include "platform/small_file.h"
#include "profile/format/encoding.h"
#include "profile/record/recording.h"

namespace fallow::profile {

std::uint32_t Recording::time_stream_of(std::uint64_t thread_id) {
  const auto found = time_streams_.find(thread_id);
  if (found != time_streams_.end()) return found->second;
  const std::uint32_t number = streams_.new_number();
  time_streams_.emplace(thread_id, number);
  const std::string name =
      platform::first_line("/proc/self/task/" + std::to_string(thread_id) + "/comm");
  const std::lock_guard lock(definitions_.mutex());
  definitions_.add_thread(number, thread_id, name, time_.now());
  return number;
}

void Recording::take_time_samples() {
  if (time_sampler_.is_on()) time_sampler_.find_threads();
  time_sampler_.collect([this](const TimeSlot& slot) {
    std::uint32_t node = 0;
    {
      const std::lock_guard lock(definitions_.mutex());
      node = definitions_.node_of(slot.trace);
    }
    TimeEvents& events =
        time_events_[slot.stream != 0 ? slot.stream : time_stream_of(slot.thread_id)];
    const std::size_t used = events.payload.size();
    events.payload.resize(used + kMaxRecordHead + 4 * kMaxVarintBytes);
    std::uint8_t* const start = events.payload.data() + used;
    const std::uint8_t* const end = put_record(start, EventTag::kTime, [&](std::uint8_t* body) {
      body = put_signed(body, slot.time_ns - events.last_ns);
      body = put_varint(put_varint(body, node), slot.weight_ns);
      return put_varint(body, slot.in_collector ? 1 : 0);
    });
    events.last_ns = slot.time_ns;
    events.payload.resize(used + static_cast<std::size_t>(end - start));
  });
}

void Recording::write_time_samples() {
  for (const auto& [stream, events] : time_events_) {
    file_.add(ChunkKind::kEvents, stream, events.payload.data(), events.payload.size());
  }
  time_events_.clear();
}

}  // namespace fallow::profile
