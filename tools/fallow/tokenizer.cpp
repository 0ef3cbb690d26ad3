#include "tools/fallow/tokenizer.h"

namespace fallow::tool {
namespace {

constexpr std::array<char, 256> word_bytes() {
  std::array<char, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = c;
  for (char c = 'A'; c <= 'Z'; ++c) {
    table[static_cast<unsigned char>(c)] = static_cast<char>(c - 'A' + 'a');
  }
  table['_'] = '_';
  return table;
}

}  // namespace

constexpr std::array<char, 256> kWordBytes = word_bytes();

}  // namespace fallow::tool
