#include "profile/analysis/die_names.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "profile/analysis/demangle.h"

namespace fallow::profile {
namespace {

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

struct Scopes {
  std::unique_ptr<Dwarf_Die, FreeScopes> first;
  int count = 0;

  Dwarf_Die* at(int index) const { return first.get() + index; }
};

Scopes scopes_of(Dwarf_Die* die) {
  Dwarf_Die* found = nullptr;
  const int count = dwarf_getscopes_die(die, &found);
  return {std::unique_ptr<Dwarf_Die, FreeScopes>(found), std::max(count, 0)};
}

Scopes scopes_at(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Die* found = nullptr;
  const int count = dwarf_getscopes(unit, address, &found);
  return {std::unique_ptr<Dwarf_Die, FreeScopes>(found), std::max(count, 0)};
}

bool names_a_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_union_type;
}

// The declaration that a definition or an inlined body stands for.
Dwarf_Die origin_of(Dwarf_Die die) {
  for (int steps = 0; steps < 8; ++steps) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    const bool found = dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != nullptr ||
                       dwarf_attr(&die, DW_AT_specification, &attribute) != nullptr;
    if (!found || dwarf_formref_die(&attribute, &next) == nullptr) break;
    die = next;
  }
  return die;
}

std::string name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != nullptr ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != nullptr) {
    if (const char* const symbol = dwarf_formstring(&attribute)) return demangle(symbol);
  }
  const char* const plain = dwarf_diename(die);
  if (plain == nullptr) return {};
  std::string name = plain;
  Dwarf_Die origin = origin_of(*die);
  const Scopes outer = scopes_of(&origin);
  for (int i = 1; i < outer.count; ++i) {
    if (!names_a_scope(dwarf_tag(outer.at(i)))) continue;
    const char* const scope = dwarf_diename(outer.at(i));
    name.insert(0, std::string(scope == nullptr ? "(anonymous namespace)" : scope) + "::");
  }
  return name;
}

// Where an inlined body was called.
void set_call_site(Dwarf_Die* unit, Dwarf_Die* inlined, SymbolFrame& caller) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0) {
    caller.line = static_cast<std::uint32_t>(value);
  }
  Dwarf_Files* files = nullptr;
  if (dwarf_getsrcfiles(unit, &files, nullptr) == 0 &&
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0) {
    if (const char* const file = dwarf_filesrc(files, value, nullptr, nullptr)) caller.file = file;
  }
}

}  // namespace

std::vector<SymbolFrame> frames_at(Dwarf_Die* unit, Dwarf_Addr address) {
  const Scopes innermost = scopes_at(unit, address);
  if (innermost.count == 0) return {};
  // The scopes where the code lies: the ones by address go on with those of the source.
  const Scopes scopes = scopes_of(innermost.at(0));
  std::vector<SymbolFrame> frames;  // innermost first
  Dwarf_Die* inlined = nullptr;
  for (int i = 0; i < scopes.count; ++i) {
    const int tag = dwarf_tag(scopes.at(i));
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    frames.emplace_back().name = name_of(scopes.at(i));
    if (inlined != nullptr) set_call_site(unit, inlined, frames.back());
    inlined = tag == DW_TAG_inlined_subroutine ? scopes.at(i) : nullptr;
    if (tag == DW_TAG_subprogram) break;
  }
  std::erase_if(frames, [](const SymbolFrame& frame) { return frame.name.empty(); });
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace fallow::profile
