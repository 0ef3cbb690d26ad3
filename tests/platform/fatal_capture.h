// Turns fatal() into an exception for one test.
#pragma once

#include <stdexcept>
#include <string>

#include "platform/fatal.h"

namespace fallow::test {

struct FatalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class FatalCapture {
 public:
  FatalCapture()
      : before_(
            platform::set_fatal_handler([](const char* message) { throw FatalError(message); })) {}
  ~FatalCapture() { platform::set_fatal_handler(before_); }
  FatalCapture(const FatalCapture&) = delete;
  FatalCapture& operator=(const FatalCapture&) = delete;

 private:
  platform::FatalHandler before_;
};

}  // namespace fallow::test
