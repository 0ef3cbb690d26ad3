// Fuzz target for the reader of recordings. Checksums would stop nearly every change, so the input
// is read twice: as a file, and as the payloads of sound chunks behind a header.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "profile/analysis/recording_reader.h"

namespace {

void append(std::string& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
}

void append_chunk(std::string& file, std::uint32_t number, char kind, const std::string& payload) {
  std::string chunk("FLWC");
  chunk += kind;
  append(chunk, 0, 3);
  append(chunk, number, 4);
  append(chunk, 1, 4);
  append(chunk, payload.size(), 4);
  append(chunk, payload.size(), 4);
  const std::string checked = chunk + payload;
  append(chunk, XXH3_64bits(checked.data(), checked.size()), 8);
  file += chunk + payload;
}

void read(const std::string& file) {
  std::istringstream stream(file);
  try {
    fallow::profile::read_recording(stream);
  } catch (const fallow::profile::NotARecording&) {  // NOLINT(bugprone-empty-catch): an answer
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  read(input);
  std::string file;
  append_chunk(file, 0, 1, std::string("\1\1\1", 3));
  // Pieces of the input, divided by bytes that say which kind the next is of.
  std::uint32_t number = 1;
  for (std::size_t begin = 0; begin < input.size() && number < 100;) {
    const std::size_t end = std::min(input.find('\xFE', begin), input.size());
    append_chunk(file, number, (number % 2 == 1) ? 2 : 3, input.substr(begin, end - begin));
    ++number;
    begin = end + 1;
  }
  read(file);
  return 0;
}
