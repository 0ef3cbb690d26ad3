// Functions and stacks in the width of a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/analysis/profile.h"

namespace fallow::tool {

// Without parameters and template arguments: "Tree::grow" of "Tree<int>::grow(Node*, long)".
std::string short_name(std::string_view name);

// "Node in grow < build < main": the type, then the functions from the leaf, at most `callers`
// above it.
std::string site_name(const profile::Profile& profile, std::uint32_t vertex, std::string_view type,
                      std::size_t callers);

std::string thread_name(const profile::Profile& profile, std::uint32_t stream);

// The program and its arguments on one line.
std::string command_line(const profile::Recording& recording);

// As a word of a shell.
std::string shell_word(const std::string& text);

}  // namespace fallow::tool
