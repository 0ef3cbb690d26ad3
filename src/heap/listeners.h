#pragma once

#include <atomic>
#include <cstddef>
#include <variant>
#include <vector>

#include "fallow/events.h"
#include "heap/push_buffer.h"
#include "platform/ranked_mutex.h"

namespace fallow::detail {

using CollectionEvent = std::variant<MinorEvent, StepEvent, FullEvent>;

/// The listeners of a heap. Events are noted while the world is stopped and delivered after it runs
/// again, in the order in which they were noted, by whichever thread comes first. Thread-safe.
class Listeners {
 public:
  Listeners();

  void add(EventListener& listener);
  /// After the return the listener is not called again.
  void remove(EventListener& listener);

  /// Only while the world is stopped. Without memory the event is lost, as a gap in the numbers.
  void note(const CollectionEvent& event) noexcept;
  /// After the return all events that this thread has noted are delivered.
  void deliver();
  /// Delivers this event at once.
  void tell(const StuckMutatorEvent& event);

  /// Fork handlers: hold the locks across a fork; the child starts without events.
  void prepare_fork();
  void parent_after_fork() noexcept;
  void child_after_fork() noexcept;

 private:
  bool next(CollectionEvent& event) noexcept;

  platform::RankedMutex mutex_;  ///< held while listeners are called
  std::vector<EventListener*> listeners_;
  std::atomic<std::size_t> count_{0};
  platform::RankedMutex events_mutex_;
  PushBuffer<CollectionEvent> events_;
  std::size_t delivered_ = 0;  ///< of events_
};

}  // namespace fallow::detail
