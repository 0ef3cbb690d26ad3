#include "platform/thread_name.h"

#include <sys/prctl.h>

namespace fallow::platform {

ThreadName current_thread_name() noexcept {
  ThreadName name{};
  if (prctl(PR_GET_NAME, name.text, 0, 0, 0) != 0) name.text[0] = '\0';
  return name;
}

}  // namespace fallow::platform
