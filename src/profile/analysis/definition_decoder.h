#pragma once

#include <cstdint>
#include <string>

#include "profile/analysis/address_map.h"
#include "profile/analysis/byte_reader.h"
#include "profile/analysis/recording.h"

namespace fallow::profile {

/// Takes in definitions and checks that they name only what was defined before.
class DefinitionDecoder {
 public:
  explicit DefinitionDecoder(Definitions& definitions) : definitions_(definitions) {}

  /// What is wrong with the record, or an empty text. Unknown tags are in order.
  std::string decode(std::uint64_t tag, ByteReader body);

 private:
  std::string string(ByteReader& body);
  std::string module(ByteReader& body);
  std::string function(ByteReader& body);
  std::string node(ByteReader& body);
  std::string type(ByteReader& body);
  std::string thread(ByteReader& body);
  std::string epoch(ByteReader& body);
  std::string code(ByteReader& body);
  std::uint32_t string_number(ByteReader& body);

  Definitions& definitions_;
  AddressMap modules_;
  AddressMap codes_;
  bool bad_string_ = false;
};

}  // namespace fallow::profile
