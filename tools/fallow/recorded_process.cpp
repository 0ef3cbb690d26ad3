#include "tools/fallow/recorded_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace fallow::tool {
namespace {

constexpr const char* kLibrary = "libfallow_malloc_profile.so";
constexpr int kSignalBase = 128;

// Beside the tool, or where an installation puts libraries; empty when it is in neither place.
std::string library_path() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place : {".", "../lib", "../lib/x86_64-linux-gnu", "../lib/fallow"}) {
    const auto candidate = (folder / place / kLibrary).lexically_normal();
    if (std::filesystem::exists(candidate, error)) return candidate.string();
  }
  return {};
}

std::string file_of(const RecordedProcess& process, pid_t pid) {
  const std::string name =
      process.file.empty()
          ? fmt::format("{}.{}.fallow",
                        std::filesystem::path(process.command[0]).filename().string(), pid)
          : process.file;
  return std::filesystem::absolute(name).string();
}

// In the child.
[[noreturn]] void become(const RecordedProcess& process, const std::string& library, int pipe) {
  const std::string own = std::to_string(getpid());
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string preload =
      before == nullptr || *before == '\0' ? library : library + ":" + before;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv("FALLOW_PROFILE", (file_of(process, getpid()) + process.options).c_str(), 1);
  setenv("FALLOW_PROFILE_PROCESS", own.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : process.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (write(pipe, &error, sizeof error) != sizeof error) _exit(1);
  _exit(1);
}

// The error number of exec, or 0 when it has replaced the child.
int exec_error(int pipe) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

class InterruptsIgnored {
 public:
  InterruptsIgnored() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~InterruptsIgnored() { restore(); }
  InterruptsIgnored(const InterruptsIgnored&) = delete;
  InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;
  void restore() const {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_{};
  struct sigaction quit_{};
};

}  // namespace

ProcessEnd run_recorded(const RecordedProcess& process) {
  ProcessEnd end;
  const std::string library = library_path();
  if (library.empty()) {
    end.start_error = fmt::format("{} is not beside this executable", kLibrary);
    return end;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    end.start_error = "cannot create a pipe";
    return end;
  }
  const InterruptsIgnored ignored;
  const pid_t child = fork();
  if (child == 0) {
    ignored.restore();
    close(ends[0]);
    become(process, library, ends[1]);
  }
  close(ends[1]);
  const int error = child < 0 ? errno : exec_error(ends[0]);
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (error != 0) {
    end.start_error =
        fmt::format("cannot start '{}': {}", process.command[0], std::strerror(error));
    return end;
  }
  end.file = file_of(process, child);
  end.exit_code = WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace fallow::tool
