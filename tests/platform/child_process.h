// Runs a piece of a test in a fork child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace fallow::test {

// Forks, runs `body` in the child and returns its exit status: the value of `body`, or -1 when the
// child ended in another way. The child skips all clean-up of the test program.
template <typename Body>
int run_in_child(Body body, pid_t* child_id = nullptr) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  if (child_id != nullptr) *child_id = child;
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace fallow::test
