// Writing the integers and records of a recording: docs/recording.md.
//
// Thread-safety: pure functions on the caller's bytes. Errors: none; room is the caller's affair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fallow::profile {

inline constexpr std::size_t kMaxVarintBytes = 10;
/// In front of a body: a tag below 128, and a length.
inline constexpr std::size_t kMaxRecordHead = 1 + kMaxVarintBytes;

inline std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *at++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::uint8_t>(value);
  return at;
}

inline std::uint8_t* put_signed(std::uint8_t* at, std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  return put_varint(at, (bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

inline std::uint8_t* put_bytes(std::uint8_t* at, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

inline std::uint8_t* put_text(std::uint8_t* at, std::string_view text) noexcept {
  return put_bytes(put_varint(at, text.size()), text);
}

inline std::uint8_t* put_fixed(std::uint8_t* at, std::uint64_t value, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
  return at + bytes;
}

/// A record whose body `write` appends, given where it begins; the length is put in front of it
/// afterwards. Returns the end.
template <class Tag, class Write>
std::uint8_t* put_record(std::uint8_t* at, Tag tag, Write&& write) noexcept {
  *at++ = static_cast<std::uint8_t>(tag);
  std::uint8_t* const body = at + 1;  // most bodies have a length of one byte
  std::uint8_t* const end = write(body);
  const auto length = static_cast<std::size_t>(end - body);
  if (length < 0x80) {
    *at = static_cast<std::uint8_t>(length);
    return end;
  }
  std::uint8_t head[kMaxVarintBytes];
  const auto head_bytes = static_cast<std::size_t>(put_varint(head, length) - head);
  std::memmove(at + head_bytes, body, length);
  std::memcpy(at, head, head_bytes);
  return at + head_bytes + length;
}

}  // namespace fallow::profile
