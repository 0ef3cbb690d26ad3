#include "platform/loaded_modules.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace fallow::platform {
namespace {

constexpr size_t align_note(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

std::string hexadecimal(const unsigned char* bytes, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string build_id_in(const unsigned char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const size_t name = align_note(head.n_namesz);
    const size_t whole = sizeof head + name + align_note(head.n_descsz);
    if (whole > size) break;
    const unsigned char* const text = notes + sizeof head;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(text, "GNU", 4) == 0) {
      return hexadecimal(text + name, head.n_descsz);
    }
    notes += whole;
    size -= whole;
  }
  return {};
}

std::string own_path() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return path;
}

LoadedModule describe(const dl_phdr_info& info, bool first) {
  LoadedModule module;
  module.bias = info.dlpi_addr;
  module.start = UINTPTR_MAX;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const uintptr_t start = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      module.start = std::min(module.start, start);
      module.end = std::max(module.end, start + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE && module.build_id.empty()) {
      module.build_id = build_id_in(reinterpret_cast<const unsigned char*>(start), segment.p_memsz);
    }
  }
  const bool named = info.dlpi_name != nullptr && info.dlpi_name[0] != '\0';
  if (first && !named) {
    module.path = own_path();
  } else if (named) {
    module.path = info.dlpi_name;
  }
  if (module.path == "linux-vdso.so.1") module.path = "[vdso]";
  return module;
}

int add_module(dl_phdr_info* info, size_t, void* modules) {
  auto& all = *static_cast<std::vector<LoadedModule>*>(modules);
  LoadedModule module = describe(*info, all.empty());
  if (module.start < module.end) all.push_back(std::move(module));
  return 0;
}

int read_generation(dl_phdr_info* info, size_t, void* generation) {
  *static_cast<uint64_t*>(generation) = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

}  // namespace

uint64_t loader_generation() noexcept {
  uint64_t generation = 0;
  dl_iterate_phdr(read_generation, &generation);
  return generation;
}

std::vector<LoadedModule> loaded_modules() {
  std::vector<LoadedModule> modules;
  dl_iterate_phdr(add_module, &modules);
  return modules;
}

}  // namespace fallow::platform
