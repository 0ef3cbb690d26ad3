// Running a piece of a test in a forked child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/heap/test_support.h"

namespace fallow::test {

/// How a child ended, in words; "exit 0" is what most tests want.
inline std::string wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "neither exited nor killed";
}

/// Forks; the child runs `body`, which returns its exit code, and ends without exit handlers.
template <class Body>
pid_t fork_child(Body&& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  // A child that hangs is to fail on its own account.
  alarm(60);
  try {
    _exit(body());
  } catch (...) {
    _exit(99);
  }
}

template <class Body>
std::string run_in_child(Body&& body) {
  const pid_t child = fork_child(body);
  return child < 0 ? "fork failed" : wait_for(child);
}

}  // namespace fallow::test
