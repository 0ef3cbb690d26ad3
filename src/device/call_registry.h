#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "device/call_frames.h"
#include "fallow/pressure.h"
#include "platform/futex.h"
#include "platform/ranked_mutex.h"

namespace fallow::device::detail {

/// The end of a Registration.
class RegistrationTarget {
 public:
  virtual ~RegistrationTarget() = default;
  virtual void unregister() noexcept = 0;
};

/// Waits, detached, until `running` is what the calling thread accounts for itself, or `dead`.
void wait_for_calls(const std::atomic<std::uint32_t>& running, const void* entry,
                    const std::atomic<bool>& dead) noexcept;

/// Objects that are called, from any thread and without a lock, while others come and go. Readers
/// take the list as it is; it is replaced when it changes. The mutex is never held while anything
/// is waited for, so an attached thread may take it.
///
/// `Data` goes with each object; `Before` orders it.
template <class Target, class Data, class Before>
class CallRegistry : public std::enable_shared_from_this<CallRegistry<Target, Data, Before>> {
 public:
  struct Entry final : RegistrationTarget {
    std::shared_ptr<Target> target;
    Data data;
    std::shared_ptr<CallRegistry> registry;  ///< a ring until the entry is removed, or close()
    std::atomic<std::uint32_t> running{0};
    bool removed = false;  ///< guarded by the registry's mutex

    void unregister() noexcept override { registry->remove(*this); }
  };
  using List = std::vector<std::shared_ptr<Entry>>;

  /// A call under way. False if the entry has been removed.
  class Call {
   public:
    explicit Call(Entry& entry) : entry_(entry), frame_(&entry) {
      const std::scoped_lock lock(entry.registry->mutex_);
      entered_ = !entry.removed;
      if (entered_) entry.running.fetch_add(1, std::memory_order_relaxed);
    }
    ~Call() {
      if (!entered_) return;
      entry_.running.fetch_sub(1, std::memory_order_release);
      platform::futex_wake_all(entry_.running);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    explicit operator bool() const noexcept { return entered_; }

   private:
    Entry& entry_;
    ThreadFrame frame_;
    bool entered_ = false;
  };

  Registration add(std::shared_ptr<Target> target, Data data) {
    auto entry = std::make_shared<Entry>();
    entry->target = std::move(target);
    entry->data = std::move(data);
    entry->registry = this->shared_from_this();
    const std::scoped_lock lock(mutex_);
    auto list = std::make_shared<List>(*list_);
    const auto place =
        std::upper_bound(list->begin(), list->end(), entry,
                         [](const auto& a, const auto& b) { return Before()(a->data, b->data); });
    list->insert(place, entry);
    publish(std::move(list));
    return Registration(entry);
  }

  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  [[nodiscard]] std::shared_ptr<const List> snapshot() const {
    const std::scoped_lock lock(mutex_);
    return list_;
  }
  /// Calls use(entry) for each, in order.
  template <class Use>
  void each(Use&& use) {
    if (empty()) return;
    const auto list = snapshot();
    for (const auto& entry : *list) {
      const Call call(*entry);
      if (call) use(*entry);
    }
  }
  /// For what is guarded by the mutex in Data.
  template <class Use>
  auto locked(Use&& use) const {
    const std::scoped_lock lock(mutex_);
    return use();
  }

  /// The device goes: nobody is called any more. Breaks the ring of references.
  void close() noexcept {
    std::shared_ptr<const List> old;  // goes after the lock
    const std::scoped_lock lock(mutex_);
    for (const auto& entry : *list_) entry->removed = true;
    old = std::exchange(list_, none_);
    count_.store(0, std::memory_order_relaxed);
  }

  /// Around a fork; in the child, calls of threads that are gone are not waited for.
  void prepare_fork() { mutex_.native().lock(); }
  void parent_after_fork() noexcept { mutex_.native().unlock(); }
  void child_after_fork() noexcept {
    dead_.store(true, std::memory_order_relaxed);
    mutex_.native().unlock();
  }

 private:
  void publish(std::shared_ptr<const List> list) {
    count_.store(list->size(), std::memory_order_relaxed);
    list_ = std::move(list);
  }
  void drop(const Entry& entry) noexcept try {
    auto list = std::make_shared<List>(*list_);
    std::erase_if(*list, [&entry](const auto& each) { return each.get() == &entry; });
    publish(std::move(list));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // It stays in the list, and is passed over.
  }
  void remove(Entry& entry) noexcept {
    {
      const std::scoped_lock lock(mutex_);
      if (!std::exchange(entry.removed, true)) drop(entry);
    }
    wait_for_calls(entry.running, &entry, dead_);
  }

  mutable platform::RankedMutex mutex_{platform::LockRank::kDeviceCalls, "device calls"};
  const std::shared_ptr<const List> none_ = std::make_shared<List>();
  std::shared_ptr<const List> list_ = none_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> dead_{false};
};

}  // namespace fallow::device::detail
