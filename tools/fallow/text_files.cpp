#include "tools/fallow/text_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace fallow::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNulSearchBytes = std::size_t{8} << 10;

// The length of the UTF-8 sequence at the start of `text`, or 0 if there is none.
std::size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  // Overlong forms, surrogates and numbers above U+10FFFF show in the second byte.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || length > text.size() || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint64_t eight = 0;
    if (text.size() >= sizeof eight) {
      std::memcpy(&eight, text.data(), sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        text.remove_prefix(sizeof eight);
        continue;
      }
    }
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

class OpenFile {
 public:
  // A pipe that has taken the place of the file would block without O_NONBLOCK.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  // Bytes read, 0 at the end, -1 for an error.
  [[nodiscard]] ssize_t read(char* to, std::size_t bytes) const {
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, to, bytes);
    } while (count < 0 && errno == EINTR);
    return count;
  }

 private:
  int descriptor_;
};

class Reader {
 public:
  explicit Reader(const ReadOptions& options) : options_(options) {}

  void read_below(const std::string& directory) {
    std::vector<fs::path> pending{directory};
    while (!pending.empty()) {
      const fs::path next = std::move(pending.back());
      pending.pop_back();
      std::vector<fs::path> subdirectories = read_directory(next);
      pending.insert(pending.end(), std::make_move_iterator(subdirectories.rbegin()),
                     std::make_move_iterator(subdirectories.rend()));
    }
  }

  TextFiles take() { return std::move(found_); }

 private:
  // Reads the files of one directory and returns its subdirectories, in order.
  std::vector<fs::path> read_directory(const fs::path& directory) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    fs::directory_iterator next(directory, error);
    while (!error && next != fs::directory_iterator()) {
      entries.push_back(*next);
      next.increment(error);
    }
    if (error) ++found_.unreadable;
    std::sort(entries.begin(), entries.end());

    std::vector<fs::path> subdirectories;
    for (const fs::directory_entry& entry : entries) {
      const fs::file_status status = entry.symlink_status(error);
      if (status.type() == fs::file_type::directory) {
        if (!is_skipped(entry.path().filename().string())) subdirectories.push_back(entry.path());
      } else if (status.type() == fs::file_type::regular) {
        read_file(entry.path().string());
      } else if (status.type() == fs::file_type::symlink) {
        ++found_.links;
      } else if (error || status.type() == fs::file_type::none) {
        ++found_.unreadable;
      } else {
        ++found_.special;
      }
      if (options_.progress) options_.progress(found_);
    }
    return subdirectories;
  }

  void read_file(const std::string& path) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0) {
      ++found_.unreadable;
      return;
    }
    const std::uint64_t room = options_.max_bytes - found_.bytes;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    // Reported as empty without being opened: files in /proc have no size either, and some of
    // those wait for the reader.
    if (size == 0) {
      ++found_.empty;
    } else if (size > room) {
      ++found_.beyond_limit;
    } else {
      read_contents(path, static_cast<std::size_t>(size), room);
    }
  }

  void read_contents(const std::string& path, std::size_t expected, std::uint64_t room) {
    const OpenFile file(path);
    if (!file.is_open()) {
      ++found_.unreadable;
      return;
    }
    // One byte more than expected, so that the end shows at the second read.
    std::string text(expected + 1, '\0');
    std::size_t length = 0;
    while (true) {
      const ssize_t count = file.read(text.data() + length, text.size() - length);
      if (count < 0) {
        ++found_.unreadable;
        return;
      }
      if (count == 0) break;
      length += static_cast<std::size_t>(count);
      if (length > room) {
        ++found_.beyond_limit;
        return;
      }
      if (length == text.size()) text.resize(2 * length);  // the file is growing
    }
    text.resize(length);
    if (text.empty()) {
      ++found_.empty;
    } else if (!is_text(text)) {
      ++found_.binary;
    } else {
      found_.bytes += text.size();
      found_.files.push_back({path, std::move(text)});
    }
  }

  [[nodiscard]] bool is_skipped(const std::string& name) const {
    const auto& skipped = options_.skipped_directories;
    return std::find(skipped.begin(), skipped.end(), name) != skipped.end();
  }

  const ReadOptions& options_;
  TextFiles found_;
};

}  // namespace

bool is_text(std::string_view text) {
  return text.substr(0, kNulSearchBytes).find('\0') == std::string_view::npos && is_utf8(text);
}

std::string directory_problem(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) return "'" + directory + "' does not exist";
  if (error) return "cannot read '" + directory + "': " + error.message();
  if (status.type() != fs::file_type::directory) return "'" + directory + "' is not a directory";
  const fs::directory_iterator first(directory, error);
  if (error) return "cannot read '" + directory + "': " + error.message();
  return {};
}

TextFiles read_text_files(const std::vector<std::string>& directories, const ReadOptions& options) {
  Reader reader(options);
  for (const std::string& directory : directories) reader.read_below(directory);
  return reader.take();
}

}  // namespace fallow::tool
