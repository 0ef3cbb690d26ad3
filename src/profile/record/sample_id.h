#pragma once

#include <cstdint>

#include "fallow/sample.h"

namespace fallow::profile {

/// A SampleId names a stream and the sample's number in it.
inline constexpr unsigned kSequenceBits = 40;

constexpr SampleId make_sample_id(std::uint32_t stream, std::uint64_t sequence) noexcept {
  return std::uint64_t{stream} << kSequenceBits | sequence;
}
constexpr std::uint32_t stream_of(SampleId id) noexcept {
  return static_cast<std::uint32_t>(id >> kSequenceBits);
}
constexpr std::uint64_t sequence_of(SampleId id) noexcept {
  return id & ((std::uint64_t{1} << kSequenceBits) - 1);
}

}  // namespace fallow::profile
