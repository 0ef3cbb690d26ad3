#pragma once

#include <stdexcept>

namespace fallow {

/// Base of all exceptions thrown by fallow.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option or environment variable with a value that makes no sense; the text names the option,
/// the value and the permitted range with its unit.
class OptionError : public Error {
 public:
  using Error::Error;
};

/// The operating system refused the address space or memory that a heap or a device needs to start.
class StartupError : public Error {
 public:
  using Error::Error;
};

/// A call that the state of the object or of the calling thread does not permit.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace fallow
