#include "profile/export/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "profile/export/clean_text.h"

namespace fallow::profile {
namespace {

constexpr std::size_t kBuffered = 64 << 10;

bool needs_escape(char character) {
  return static_cast<unsigned char>(character) < 0x20 || character == '"' || character == '\\' ||
         character == '<' || character == '>' || character == '&' || character == 0x7F;
}

}  // namespace

void JsonWriter::separate() {
  if (!first_) buffer_ += ',';
  first_ = false;
  if (buffer_.size() >= kBuffered) flush();
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  buffer_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  buffer_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  buffer_ += text;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  buffer_ += ':';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  buffer_ += '"';
  for (const char character : valid_utf8(text)) {
    if (needs_escape(character)) {
      buffer_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(character));
    } else {
      buffer_ += character;
    }
  }
  buffer_ += '"';
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  // Whole numbers up to 2^53 without an exponent.
  if (number == std::floor(number) && std::abs(number) < 0x1p53) {
    return raw(std::to_string(static_cast<std::int64_t>(number)));
  }
  return raw(fmt::format("{}", number));
}

void JsonWriter::flush() {
  to_.write(buffer_);
  buffer_.clear();
}

}  // namespace fallow::profile
