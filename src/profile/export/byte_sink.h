#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace fallow::profile {

/// Takes the bytes of a file in the making. Failures are std::system_error or std::runtime_error.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;
  /// Once, after the last write.
  virtual void finish() = 0;
};

class StringSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override {}
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A file that appears under its name when it is complete: until then, and when something fails,
/// the name keeps what it had. What is no regular file (a pipe, /dev/stdout) is written to
/// directly.
class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::string path);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  void write(std::string_view bytes) override;
  void finish() override;

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::string written_path_;
  std::FILE* file_;
};

/// Packs into the form of gzip (RFC 1952) for another sink.
class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& to);
  ~GzipSink() override;
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  void write(std::string_view bytes) override;
  void finish() override;

 private:
  void deflate_all(int flush);

  ByteSink& to_;
  std::unique_ptr<z_stream_s> stream_;
};

}  // namespace fallow::profile
