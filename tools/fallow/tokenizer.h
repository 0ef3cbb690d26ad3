// The words of a text.
//
// A word is a run of ASCII letters, digits and underscores, 2 to 64 characters long; every other
// byte separates words. Words are reported in lower case. Longer and shorter runs are passed over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fallow::tool {

inline constexpr std::size_t kMinWordLength = 2;
inline constexpr std::size_t kMaxWordLength = 64;

// For each byte its lower-case form, or 0 for a byte that separates words.
extern const std::array<char, 256> kWordBytes;

// Calls sink(std::string_view) for each word in order; the view ends with the call. Returns the
// number of words.
template <class Sink>
std::uint64_t for_each_word(std::string_view text, Sink&& sink) {
  std::array<char, kMaxWordLength> word;
  std::size_t length = 0;
  std::uint64_t words = 0;
  const auto finish = [&] {
    if (length >= kMinWordLength && length <= kMaxWordLength) {
      sink(std::string_view(word.data(), length));
      ++words;
    }
    length = 0;
  };
  for (const char byte : text) {
    const char letter = kWordBytes[static_cast<unsigned char>(byte)];
    if (letter == 0) {
      if (length != 0) finish();
      continue;
    }
    if (length < kMaxWordLength) word[length] = letter;
    ++length;
  }
  finish();
  return words;
}

}  // namespace fallow::tool
