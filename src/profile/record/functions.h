#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "fallow/profile_frame.h"
#include "platform/ranked_mutex.h"

namespace fallow::profile {

struct FunctionFacts {
  std::string name;
  std::string file;
  std::uint32_t first_line = 0;
  std::vector<PositionLine> lines;
};

/// A range of code made at run time.
struct CodeRange {
  std::string name;
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
};

/// Functions of embedded languages and their code, known to the process whether or not anything is
/// recorded. Thread-safe; references stay valid for ever.
class FunctionRegistry {
 public:
  static FunctionRegistry& instance() noexcept;

  /// Throws std::bad_alloc.
  FunctionId add(const FunctionInfo& info);
  /// Null when there is none of this number.
  const FunctionFacts* find(std::uint64_t number) noexcept;

  void add_code(std::string_view name, std::uintptr_t start, std::size_t bytes);
  void remove_code(std::uintptr_t start) noexcept;
  /// The ranges added since the `seen`-th, removed ones included; updates `seen`.
  std::vector<CodeRange> code_since(std::uint64_t& seen);

  platform::RankedMutex& mutex() noexcept { return mutex_; }

 private:
  platform::RankedMutex mutex_{platform::LockRank::kProfileFunctions, "profile functions"};
  std::deque<FunctionFacts> functions_;
  std::deque<CodeRange> code_;    // the last kKeptCode of those added
  std::uint64_t code_added_ = 0;  // ever
};

}  // namespace fallow::profile
