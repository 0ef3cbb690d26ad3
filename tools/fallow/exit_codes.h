// Exit codes of the command line tool.
#pragma once

namespace fallow::tool {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // a check failed, or the work could not be finished
inline constexpr int kExitUsage = 2;   // unknown options, bad values, directories that do not exist

}  // namespace fallow::tool
