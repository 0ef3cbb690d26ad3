#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fallow::profile {

/// A function at an address of native code, or one that was inlined there.
struct SymbolFrame {
  std::string name;  ///< demangled
  std::string file;  ///< of the source; empty when not known
  std::uint32_t line = 0;
};

/// A file of machine code that was loaded when its addresses were recorded.
struct LoadedFile {
  std::string path;
  std::string build_id;  ///< hex; empty when not known
  std::uint64_t bias = 0;
};

/// Finds names for addresses.
class Symbolizer {
 public:
  virtual ~Symbolizer() = default;
  /// The functions at an address in `file`, outermost first; none when nothing is known. `file` is
  /// the same object for all addresses in it.
  virtual std::vector<SymbolFrame> find(const LoadedFile& file, std::uint64_t address) = 0;
  /// What a user should know, such as files that have changed since.
  [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }
};

}  // namespace fallow::profile
