#include "profile/analysis/elf_symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <span>

#include "profile/analysis/demangle.h"
#include "profile/analysis/die_names.h"

namespace fallow::profile {
namespace {

const Dwfl_Callbacks kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int length = dwfl_module_build_id(module, &bits, &address);
  std::string hex;
  for (int i = 0; i < length; ++i) hex += fmt::format("{:02x}", bits[i]);
  return hex;
}

std::string separate_debug_file(const std::string& build_id) {
  if (build_id.size() < 4) return {};
  return fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", build_id.substr(0, 2),
                     build_id.substr(2));
}

}  // namespace

// One file, laid out at the addresses of the recording.
class ElfSymbolizer::OpenFile {
 public:
  OpenFile(const std::string& path, const LoadedFile& file) : dwfl_(dwfl_begin(&kCallbacks)) {
    if (dwfl_ == nullptr) return;
    std::error_code unreadable;
    // What is no regular file may block, or never end.
    if (std::filesystem::is_regular_file(path, unreadable)) {
      dwfl_report_begin(dwfl_);
      module_ = dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), -1, file.bias, true);
      dwfl_report_end(dwfl_, nullptr, nullptr);
    }
    if (module_ == nullptr) return;
    const std::string found = build_id_of(module_);
    if (!file.build_id.empty() && found != file.build_id) {
      changed_ = true;
      module_ = nullptr;
    }
  }
  ~OpenFile() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool usable() const { return module_ != nullptr; }
  [[nodiscard]] bool changed() const { return changed_; }

  std::vector<SymbolFrame> find(std::uint64_t address) {
    std::vector<SymbolFrame> frames = from_debug_information(address);
    const char* const symbol = dwfl_module_addrname(module_, address);
    if (frames.empty()) {
      if (symbol == nullptr) return {};
      frames.emplace_back();
    }
    // Short debug information does without parameters, which the symbol table has.
    if (symbol != nullptr && frames.front().name.find('(') == std::string::npos) {
      frames.front().name = demangle(symbol);
    }
    set_line(frames.back(), address);
    if (frames.front().name.empty()) return {};
    return frames;
  }

 private:
  std::vector<SymbolFrame> from_debug_information(std::uint64_t address) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = unit_of(address, bias);
    return unit == nullptr ? std::vector<SymbolFrame>() : frames_at(unit, address - bias);
  }

  Dwarf_Die* unit_of(std::uint64_t address, Dwarf_Addr& bias) {
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    if (unit != nullptr) return unit;
    // Clang writes no table of addresses.
    while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr) {
      if (dwarf_haspc(unit, address - bias) > 0) return unit;
    }
    return nullptr;
  }

  void set_line(SymbolFrame& frame, std::uint64_t address) {
    Dwfl_Line* const line = dwfl_module_getsrc(module_, address);
    if (line == nullptr) return;
    int number = 0;
    const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (file != nullptr) frame.file = file;
    frame.line = number > 0 ? static_cast<std::uint32_t>(number) : 0;
  }

  Dwfl* dwfl_;
  Dwfl_Module* module_ = nullptr;
  bool changed_ = false;
};

ElfSymbolizer::ElfSymbolizer() = default;
ElfSymbolizer::~ElfSymbolizer() = default;

ElfSymbolizer::OpenFile* ElfSymbolizer::open(const LoadedFile& file) {
  std::unique_ptr<OpenFile>& opened = files_[&file];
  if (opened != nullptr) return opened.get();
  opened = std::make_unique<OpenFile>(file.path, file);
  if (opened->usable() || file.path.starts_with('[')) return opened.get();
  const bool changed = opened->changed();
  auto debug_file = std::make_unique<OpenFile>(separate_debug_file(file.build_id), file);
  if (debug_file->usable()) {
    opened = std::move(debug_file);
  } else if (changed) {
    warnings_.push_back(fmt::format("'{}' has changed since (build id {}): no names from it",
                                    file.path, file.build_id));
  } else {
    warnings_.push_back(fmt::format("'{}' cannot be read: no names from it", file.path));
  }
  return opened.get();
}

std::vector<SymbolFrame> ElfSymbolizer::find(const LoadedFile& file, std::uint64_t address) {
  OpenFile* const opened = open(file);
  return opened->usable() ? opened->find(address) : std::vector<SymbolFrame>();
}

}  // namespace fallow::profile
