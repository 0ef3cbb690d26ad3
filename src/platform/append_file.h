// A file that is created and then only appended to, in pieces that are there wholly or not at all.
//
// A write that fails half-way is cut off again where the file can be cut. Signals of writing (a
// broken pipe, a file-size limit) are error numbers here. Waits up to a second for a full pipe.
// Thread-safety: none; the owner serializes. Errors: numbers of errno, 0 for success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fallow::platform {

class AppendFile {
 public:
  AppendFile() = default;
  ~AppendFile() { close(); }
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // Creates a file that is not inherited over exec. One that exists is EEXIST, or is emptied with
  // `overwrite`. A FIFO or another device is used as it is; a FIFO without reader is ENXIO.
  int create(const std::string& path, bool overwrite) noexcept;

  // Appends all of it. After a failure nothing of it is there, unless the file is a pipe.
  int append(const void* bytes, size_t count) noexcept;

  // Closes without any other effect on the file.
  void close() noexcept;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  // Appended so far.
  uint64_t size() const noexcept { return size_; }

 private:
  int descriptor_ = -1;
  bool regular_ = false;
  uint64_t size_ = 0;
};

}  // namespace fallow::platform
