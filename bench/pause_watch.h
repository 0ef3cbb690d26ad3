#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "fallow/heap.h"

namespace fallow::bench {

/// The longest pause of a heap since a moment, in CPU time: a minor collection with what follows it
/// counts as one. Explicit steps should lie outside what is watched.
class PauseWatch final : public EventListener {
 public:
  explicit PauseWatch(Heap& heap)
      : heap_(heap), in_steps_(heap.options().step_budget_microseconds != 0) {
    heap_.add_listener(*this);
  }
  ~PauseWatch() override { heap_.remove_listener(*this); }
  PauseWatch(const PauseWatch&) = delete;
  PauseWatch& operator=(const PauseWatch&) = delete;

  void restart() {
    current_ns_ = 0;
    longest_ns_ = 0;
  }
  [[nodiscard]] std::uint64_t longest_cpu_ns() const { return longest_ns_; }

  void on_minor(const MinorEvent& event) override {
    current_ns_ = 0;
    extend(event.cpu_ns);
  }
  void on_step(const StepEvent& event) override { extend(event.cpu_ns); }
  void on_full(const FullEvent& event) override {
    // In steps it is the sum of pauses that have been told one by one.
    if (!in_steps_) extend(event.cpu_ns);
  }

 private:
  void extend(std::uint64_t ns) {
    current_ns_ += ns;
    longest_ns_ = std::max<std::uint64_t>(longest_ns_, current_ns_);
  }

  Heap& heap_;
  const bool in_steps_;
  // The thread that collects tells, which need not be the one that watches.
  std::atomic<std::uint64_t> current_ns_ = 0;
  std::atomic<std::uint64_t> longest_ns_ = 0;
};

}  // namespace fallow::bench
