#include "fallow/errors.h"

#include <cstdio>

#include "fallow/array.h"
#include "telemetry/size_parser.h"

namespace fallow {

OutOfMemory::OutOfMemory(const Facts& facts) : Error(""), facts_(facts) {
  // Sizes with a unit are so short that std::string keeps them without memory.
  using telemetry::format_bytes;
  const std::string requested = format_bytes(facts.requested_bytes);
  const std::string used = format_bytes(facts.used_bytes);
  const std::string committed = format_bytes(facts.committed_bytes);
  const std::string limit = format_bytes(facts.hard_limit_bytes);
  const bool refused = facts.operating_system_refused;
  std::snprintf(text_, sizeof text_,
                "fallow: out of memory: %s requested, %s used, %s committed, %s%s; after %zu full "
                "collections%s",
                requested.c_str(), used.c_str(), committed.c_str(),
                refused ? "the system refused more" : "the hard limit is ",
                refused ? "" : limit.c_str(), facts.full_collections,
                facts.share_exceeded ? ", since these had taken more than limit_cpu_share" : "");
}

SizeError::SizeError(std::size_t length, std::size_t item_bytes)
    : Error("fallow: no object can have " + std::to_string(length) + " items of " +
            std::to_string(item_bytes) + " bytes"),
      length_(length),
      item_bytes_(item_bytes) {}

RangeError::RangeError(std::size_t index, std::size_t count, std::size_t length)
    : Error("fallow: items " + std::to_string(index) + " … +" + std::to_string(count) +
            " lie outside an array of " + std::to_string(length)),
      index_(index),
      count_(count),
      length_(length) {}

SlotStackOverflow::SlotStackOverflow(std::size_t capacity)
    : Error("fallow: more than " + std::to_string(capacity) +
            " live Locals; raise HeapOptions::slot_stack_bytes (FALLOW_SLOT_STACK)"),
      capacity_(capacity) {}

void ArrayBase::throw_range(std::size_t first, std::size_t count, std::size_t length) {
  throw RangeError(first, count, length);
}

}  // namespace fallow
