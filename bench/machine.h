#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fallow::bench {

/// What a reader of figures wants to know: processor, cores, caches, memory, kernel, compiler,
/// version, load, date.
std::vector<std::pair<std::string, std::string>> describe_machine();

}  // namespace fallow::bench
