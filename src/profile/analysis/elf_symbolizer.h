#pragma once

#include <memory>
#include <unordered_map>

#include "profile/analysis/symbolizer.h"

namespace fallow::profile {

/// Finds names with elfutils' libdw in the files themselves, in the separate debug files where
/// Debian's packages put them (/usr/lib/debug), and on a debuginfod server when DEBUGINFOD_URLS
/// names one. A file whose build id is not the recorded one is not used. Opens each file once, at
/// its first address. Not thread-safe.
class ElfSymbolizer final : public Symbolizer {
 public:
  ElfSymbolizer();
  ~ElfSymbolizer() override;
  std::vector<SymbolFrame> find(const LoadedFile& file, std::uint64_t address) override;
  [[nodiscard]] std::vector<std::string> warnings() const override { return warnings_; }

 private:
  class OpenFile;
  OpenFile* open(const LoadedFile& file);

  std::unordered_map<const LoadedFile*, std::unique_ptr<OpenFile>> files_;
  std::vector<std::string> warnings_;
};

}  // namespace fallow::profile
