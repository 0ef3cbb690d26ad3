#include "device/in_flight.h"

#include <algorithm>

namespace fallow::device::detail {

const StreamPoint* StreamProgress::find(StreamId stream) const noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (points[i].stream == stream) return &points[i];
  }
  return nullptr;
}

void StreamProgress::add(StreamId stream) noexcept {
  if (count < kMost && find(stream) == nullptr) points[count++] = {stream, 0};
}

InFlight::~InFlight() {
  while (first_ != nullptr) {
    StreamFree* const next = first_->next;
    delete first_;
    first_ = next;
  }
}

void InFlight::push(StreamFree* item) noexcept {
  item->next = nullptr;
  (last_ != nullptr ? last_->next : first_) = item;
  last_ = item;
}

StreamProgress InFlight::streams() const noexcept {
  StreamProgress streams;
  for (const StreamFree* item = first_; item != nullptr; item = item->next) {
    for (std::size_t i = 0; i < item->point_count; ++i) streams.add(item->points[i].stream);
  }
  return streams;
}

StreamFree* InFlight::take_done(const StreamProgress& progress) noexcept {
  const auto done = [&progress](const StreamPoint& point) {
    const StreamPoint* const known = progress.find(point.stream);
    return known != nullptr && point.number <= known->number;
  };
  StreamFree* taken = nullptr;
  StreamFree* previous = nullptr;
  for (StreamFree* item = first_; item != nullptr;) {
    StreamFree* const next = item->next;
    auto* const begin = item->points.data();
    item->point_count =
        static_cast<std::size_t>(std::remove_if(begin, begin + item->point_count, done) - begin);
    if (item->point_count == 0) {
      (previous != nullptr ? previous->next : first_) = next;
      item->next = taken;
      taken = item;
    } else {
      previous = item;
    }
    item = next;
  }
  last_ = previous;
  return taken;
}

}  // namespace fallow::device::detail
