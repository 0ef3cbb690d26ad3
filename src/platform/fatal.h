// The end of the program for broken invariants, and for misuse that checked builds detect. Never
// for conditions that a correct program can meet, such as running out of memory.
//
// Thread-safety: any thread. Nothing is allocated; messages are cut at about 1000 bytes.
#pragma once

namespace fallow::platform {

// Writes "fallow: MESSAGE" and a line end to standard error and aborts, unless a handler is set.
// `format` is as for printf.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);

// Called instead, with the formatted message (without prefix and line end). A handler may throw;
// when it returns, the program aborts.
using FatalHandler = void (*)(const char* message);

// Installs a handler, nullptr for the standard behaviour; returns the previous one.
FatalHandler set_fatal_handler(FatalHandler handler) noexcept;

}  // namespace fallow::platform
