// What a host language tells the library about its threads.
//
// A thread may hold something that other threads need in order to go on, such as the GIL or an
// attached thread state of CPython. The library must not block meanwhile: it detaches first. The
// library knows no language; the language's binding installs a ThreadHooks.
#pragma once

namespace fallow {

class ThreadHooks {
 public:
  virtual ~ThreadHooks() = default;
  /// If the calling thread is attached, detaches it and returns what attach() needs, not null.
  /// Otherwise null. No lock of the library is held.
  virtual void* detach() noexcept = 0;
  /// Attaches the thread again. May block: no lock of the library is held.
  virtual void attach(void* token) noexcept = 0;
  /// Asked a few times a second while a detached thread waits: whether it is to give up, because of
  /// a signal for example. May attach and detach.
  virtual bool interrupted(void* token) noexcept {
    static_cast<void>(token);
    return false;
  }
  /// Whether responders may be waiting for what the calling thread is doing, such as a collection
  /// whose finalizer it runs. What it allocates then waits for nobody.
  virtual bool others_wait() noexcept { return false; }
};

/// Whether ThreadHooks::others_wait() says so of the calling thread.
bool others_wait_for_this_thread() noexcept;

/// Installs the hooks of the process, or null for none. They must stay valid until others are
/// installed and no thread waits any more. Thread-safe.
void set_thread_hooks(ThreadHooks* hooks) noexcept;

/// The calling thread is detached while one exists. Put one around everything that may block.
/// Nests; ends on its thread. O(1) but for the hooks.
class BlockingScope {
 public:
  BlockingScope() noexcept;
  ~BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

  /// Whether the hooks want the wait to end. False for a thread that was not attached.
  [[nodiscard]] bool interrupted() noexcept;

 private:
  ThreadHooks* hooks_;
  void* token_;
};

}  // namespace fallow
