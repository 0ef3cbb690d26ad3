#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace fallow::profile {

/// Reads the integers and texts of a recording (docs/recording.md) from bytes that may be anything.
/// What cannot be read gives 0 or nothing and makes failed() true; from then on nothing is read.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return failed_ || position_ == bytes_.size(); }
  [[nodiscard]] std::size_t remaining() const { return failed_ ? 0 : bytes_.size() - position_; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_end()) return fail();
      const auto byte = static_cast<std::uint8_t>(bytes_[position_++]);
      // The tenth byte has room for one bit.
      if (shift == 63 && byte > 1) return fail();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }

  std::int64_t signed_varint() {
    const std::uint64_t coded = varint();
    return std::bit_cast<std::int64_t>((coded >> 1) ^ (~(coded & 1) + 1));
  }

  std::span<const std::byte> bytes(std::uint64_t count) {
    if (count > remaining()) {
      fail();
      return {};
    }
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  std::span<const std::byte> rest() { return bytes(remaining()); }

  /// Valid as long as the bytes are.
  std::string_view text() { return as_text(bytes(varint())); }

  static std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::uint64_t fail() {
    failed_ = true;
    return 0;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

/// An integer of fixed width, little-endian, whatever this machine is.
template <class Integer>
Integer load_little_endian(std::span<const std::byte> bytes, std::size_t offset) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= static_cast<Integer>(static_cast<Integer>(bytes[offset + i]) << (8 * i));
  }
  return value;
}

}  // namespace fallow::profile
