#pragma once

#include <functional>
#include <istream>
#include <stdexcept>
#include <string>

#include "profile/analysis/recording.h"

namespace fallow::profile {

/// The file is no recording, or one that this version cannot read: nothing of it was used.
class NotARecording : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Told how many bytes of the file have been read.
using ReadProgress = std::function<void(std::uint64_t)>;

/// Reads the longest sound prefix of a recording; where and why that ends before the file does is
/// in Recording::damage. Samples and fates stand as in the file: see join_fates() and
/// assign_weights(). Any bytes are safe to read. Throws NotARecording and std::bad_alloc.
Recording read_recording(std::istream& file, const ReadProgress& progress = {});

/// The same from a file. Throws std::system_error, too.
Recording read_recording_file(const std::string& path, const ReadProgress& progress = {});

}  // namespace fallow::profile
