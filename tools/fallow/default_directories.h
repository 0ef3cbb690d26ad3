// Where the demo finds texts when the user names no directory.
#pragma once

#include <string>
#include <vector>

namespace fallow::tool {

struct DefaultPlaces {
  // Directories that may hold python3.x directories.
  std::vector<std::string> library_parents{"/usr/lib", "/usr/local/lib"};
  // Directories, separated by colons, that may hold a python3; the value of $PATH.
  std::string path;
  // Taken where there is no Python.
  std::vector<std::string> fallbacks{"/usr/share/doc", "/usr/include"};
};

// The sources of Python's standard library, newest version first in each parent directory; then
// those of the first python3 on the path that is a Python and not, say, a script that starts one;
// else the fallbacks that exist. Nothing is run.
std::vector<std::string> default_directories(const DefaultPlaces& places);

}  // namespace fallow::tool
