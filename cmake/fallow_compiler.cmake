# Language level, warnings and sanitizers, the same for every target of this repository.

include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Given to targets one by one, so that a project which embeds this one keeps its own warnings.
# -Wconversion includes -Wsign-conversion in Clang but not in GCC: turning it off makes both agree.
set(fallow_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports an overlap inside std::string that cannot happen (GCC bug 105651).
  list(APPEND fallow_warnings -Wno-restrict)
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # What only `if constexpr (kChecked)` calls is not needed in an unchecked build.
  list(APPEND fallow_warnings -Wno-unneeded-internal-declaration)
endif()

# Sanitizer instrumentation makes GCC warn about code it has itself inserted.
if(FALLOW_WERROR AND NOT (FALLOW_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
  list(APPEND fallow_warnings -Werror)
endif()

if(FALLOW_SANITIZE)
  add_compile_options(-fsanitize=${FALLOW_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FALLOW_SANITIZE})
endif()

# Sets `out` to every C++ source below `folder`, and looks again whenever the build runs.
function(fallow_sources out folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()
