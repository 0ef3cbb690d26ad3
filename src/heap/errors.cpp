#include "fallow/errors.h"

#include "fallow/array.h"
#include "telemetry/size_parser.h"

namespace fallow {

namespace {

std::string describe(const OutOfMemory::Facts& facts) {
  std::string text = "fallow: out of memory: " + telemetry::format_bytes(facts.requested_bytes) +
                     " requested, " + telemetry::format_bytes(facts.used_bytes) + " used, " +
                     telemetry::format_bytes(facts.committed_bytes) + " committed, ";
  if (facts.operating_system_refused) {
    text += "the system refused more";
  } else {
    text += "the hard limit is " + telemetry::format_bytes(facts.hard_limit_bytes);
  }
  return text + "; after " + std::to_string(facts.full_collections) + " full collections";
}

}  // namespace

OutOfMemory::OutOfMemory(const Facts& facts) : Error(describe(facts)), facts_(facts) {}

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
