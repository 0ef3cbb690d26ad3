// What exporters have written, read back by other means.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "profile/export/exporter.h"

namespace fallow::test {

inline std::string exported(const profile::Profile& profile, profile::ExportFormat format,
                            const profile::ExportOptions& options = {}) {
  profile::StringSink sink;
  export_profile(profile, format, options, sink);
  return sink.text();
}

inline std::string unpacked(const std::string& packed) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string text;
  std::vector<char> buffer(1 << 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END ? text : "damaged gzip data";
}

/// The fields of a message: numbers as they are, bytes as views.
struct ProtobufField {
  std::uint64_t field;
  std::uint64_t number;
  std::string_view bytes;
};

class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view text) : text_(text) {}

  std::vector<ProtobufField> all() {
    std::vector<ProtobufField> fields;
    while (!text_.empty()) {
      const std::uint64_t tag = varint();
      ProtobufField field{tag >> 3, varint(), {}};
      if ((tag & 7) == 2) {
        field.bytes = text_.substr(0, field.number);
        text_.remove_prefix(field.number);
      }
      fields.push_back(field);
    }
    return fields;
  }
  std::vector<std::uint64_t> packed() {
    std::vector<std::uint64_t> numbers;
    while (!text_.empty()) numbers.push_back(varint());
    return numbers;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !text_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(text_.front());
      text_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  std::string_view text_;
};

}  // namespace fallow::test
