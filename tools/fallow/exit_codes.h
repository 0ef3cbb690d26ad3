// Exit codes of the command line tool.
#pragma once

namespace fallow::tool {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // a check failed, or the work could not be finished
inline constexpr int kExitUsage = 2;   // unknown options, bad values, directories that do not exist

// Of the commands on recordings, which may stand in scripts beside the program that they record.
inline constexpr int kRecordingUsage = 1;         // also: a file that cannot be opened or written
inline constexpr int kRecordingTargetFailed = 2;  // also: a limit that was asked for is exceeded
inline constexpr int kRecordingDamaged = 3;       // what could be read was used

}  // namespace fallow::tool
