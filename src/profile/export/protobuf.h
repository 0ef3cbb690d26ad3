#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fallow::profile {

/// One message in the wire format of Protocol Buffers: varints and nested bytes are all that pprof
/// needs.
class ProtobufMessage {
 public:
  /// Zero is what a missing field means, and is left out.
  ProtobufMessage& number(unsigned field, std::uint64_t value) {
    if (value != 0) tag(field, 0).varint(value);
    return *this;
  }
  ProtobufMessage& bytes(unsigned field, std::string_view value) {
    tag(field, 2).varint(value.size());
    text_ += value;
    return *this;
  }
  ProtobufMessage& message(unsigned field, const ProtobufMessage& value) {
    return bytes(field, value.text_);
  }
  ProtobufMessage& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7F) | 0x80);
    text_ += static_cast<char>(value);
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  ProtobufMessage& tag(unsigned field, unsigned kind) {
    return varint((std::uint64_t{field} << 3) | kind);
  }

  std::string text_;
};

}  // namespace fallow::profile
