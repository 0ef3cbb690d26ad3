#include "profile/record/functions.h"

#include <algorithm>
#include <new>

#include "profile/record/thread_context.h"

namespace fallow::profile {

namespace {
/// A compiler that replaces its code for ever must not fill the memory with what it was.
constexpr std::size_t kKeptCode = 100'000;
}  // namespace

FunctionRegistry& FunctionRegistry::instance() noexcept {
  static FunctionRegistry* const registry = new FunctionRegistry;  // threads may outlive main()
  return *registry;
}

FunctionId FunctionRegistry::add(const FunctionInfo& info) {
  FunctionFacts facts{std::string(info.name),
                      std::string(info.file),
                      info.first_line,
                      {info.lines.begin(), info.lines.end()}};
  const std::lock_guard lock(mutex_);
  functions_.push_back(std::move(facts));
  return static_cast<FunctionId>(functions_.size());
}

const FunctionFacts* FunctionRegistry::find(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  return number == 0 || number > functions_.size() ? nullptr : &functions_[number - 1];
}

void FunctionRegistry::add_code(std::string_view name, std::uintptr_t start, std::size_t bytes) {
  CodeRange range{std::string(name), start, bytes};
  const std::lock_guard lock(mutex_);
  code_.push_back(std::move(range));
  ++code_added_;
  if (code_.size() > kKeptCode) code_.pop_front();
}

void FunctionRegistry::remove_code(std::uintptr_t start) noexcept {
  const std::lock_guard lock(mutex_);
  // Recent code is replaced most often. The name stays for samples that were taken already.
  const auto found = std::find_if(code_.rbegin(), code_.rend(),
                                  [&](const CodeRange& range) { return range.start == start; });
  if (found != code_.rend()) found->bytes = 0;
}

std::vector<CodeRange> FunctionRegistry::code_since(std::uint64_t& seen) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t first = code_added_ - code_.size();
  const auto skipped = static_cast<std::ptrdiff_t>(seen > first ? seen - first : 0);
  seen = code_added_;
  return {code_.begin() + skipped, code_.end()};
}

FunctionId register_function(const FunctionInfo& info) noexcept {
  const InsideProfile inside;
  try {
    return FunctionRegistry::instance().add(info);
  } catch (const std::bad_alloc&) {
    return FunctionId::kNone;
  }
}

void register_code(std::string_view name, const void* start, std::size_t bytes) noexcept {
  const InsideProfile inside;
  try {
    FunctionRegistry::instance().add_code(name, reinterpret_cast<std::uintptr_t>(start), bytes);
  } catch (const std::bad_alloc&) {
    return;  // its samples stay without a name
  }
}

void unregister_code(const void* start) noexcept {
  FunctionRegistry::instance().remove_code(reinterpret_cast<std::uintptr_t>(start));
}

}  // namespace fallow::profile
