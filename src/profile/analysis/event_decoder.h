#pragma once

#include <cstdint>
#include <string>

#include "profile/analysis/byte_reader.h"
#include "profile/analysis/recording.h"

namespace fallow::profile {

/// Takes in the events of one chunk, whose times are relative to one another.
class EventDecoder {
 public:
  EventDecoder(Recording& recording, std::uint32_t stream)
      : recording_(recording), stream_(stream) {}

  /// What is wrong with the record, or an empty text. Unknown tags are in order.
  std::string decode(std::uint64_t tag, ByteReader body);

 private:
  std::string decode_body(std::uint64_t tag, ByteReader& body);
  std::string sample(ByteReader& body);
  std::string minor(ByteReader& body);
  std::string died(ByteReader& body);
  std::string pause(ByteReader& body);
  std::string time(ByteReader& body);
  void level(ByteReader& body);
  void lost(ByteReader& body);
  void self(ByteReader& body);
  std::string advance(std::int64_t delta_ns);

  Recording& recording_;
  std::uint32_t stream_;
  std::int64_t time_ns_ = 0;
};

}  // namespace fallow::profile
