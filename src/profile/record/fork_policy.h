#pragma once

namespace fallow::profile {

/// What a fork means for the recording: the parent goes on; the child never touches the parent's
/// file, and either records into one of its own or not at all.
class ForkPolicy {
 public:
  /// Once in a process.
  static void install();

 private:
  static void prepare_control();
  static void release_control();
  static void prepare_inner();
  static void release_inner();
  static void child_inner();
  static void child_control();
};

}  // namespace fallow::profile
