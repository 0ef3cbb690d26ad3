// What all commands on recordings have in common: loading, complaints, exit codes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "profile/analysis/profile.h"

namespace CLI {
class App;
}  // namespace CLI

namespace fallow::tool {

// Whether the first argument is a command on recordings, whose exit codes are those of exit_codes.h
// that begin with kRecording.
bool is_recording_verb(std::string_view name);

// Reads a recording with progress on standard error, and tells there what is wrong with it.
profile::Profile load_with_progress(const std::string& path);

// Runs `work` and gives its exit code, or for what it throws the code that belongs to it, with a
// message on standard error.
int guarded(const std::function<int()>& work);

// kExitOk, or kRecordingDamaged when not all of the file was read.
int exit_code_of(const profile::Recording& recording);

// "next: fallow ARGUMENTS" on standard error, where it disturbs no pipe.
void suggest(const std::string& arguments);

// Throws OptionError unless the file may be written: it is new, or `force` is given, or it is no
// regular file. It must not be `input`.
void check_output(const std::string& path, bool force, const std::string& input);

}  // namespace fallow::tool
