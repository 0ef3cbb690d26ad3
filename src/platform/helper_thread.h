// Threads of the library's own, beside those of the program.
//
// Thread-safety: any thread.
#pragma once

namespace fallow::platform {

// Starts a thread that runs `body(argument)` and is never joined: it may still run when the process
// ends, so it must use only what is never destroyed. It receives none of the process's signals; its
// name is `name`, of which the system keeps 15 characters. It does not exist in the child of a
// fork. False when the system refuses.
bool start_helper_thread(const char* name, void (*body)(void*), void* argument) noexcept;

}  // namespace fallow::platform
