# The static library: every layer below src/, and the headers in include/.

include_guard(GLOBAL)

find_package(Threads REQUIRED)

if(FALLOW_CHECKED)
  set(fallow_checked_literal true)
else()
  set(fallow_checked_literal false)
endif()
set(fallow_generated_include "${PROJECT_BINARY_DIR}/include")
configure_file("${PROJECT_SOURCE_DIR}/cmake/build_config.h.in"
               "${fallow_generated_include}/fallow/detail/build_config.h" @ONLY)

# From the lowest layer up. heap, profile and device stand side by side.
set(fallow_layers platform telemetry heap profile device)
if(FALLOW_BUILD_PYTHON AND NOT FALLOW_BUILD_TOOL AND NOT FALLOW_BUILD_TESTS)
  # All that the package uses: pip's build takes half of the time.
  set(fallow_layers platform telemetry device)
endif()

add_library(fallow STATIC)
add_library(fallow::fallow ALIAS fallow)
foreach(layer IN LISTS fallow_layers)
  if(layer STREQUAL "profile")
    continue() # has libraries of its own, with dependencies that the heap does not have
  endif()
  fallow_sources(layer_sources src/${layer})
  target_sources(fallow PRIVATE ${layer_sources})
endforeach()

# Two words pushed as one vector are slow to pop as two: copying loses a tenth.
set_source_files_properties(src/heap/minor_collector.cpp PROPERTIES COMPILE_OPTIONS
                                                                   "-fno-tree-slp-vectorize")

# Stacks of samples are walked through these by frame pointers.
set_source_files_properties(src/heap/allocation.cpp src/heap/cursor.cpp src/heap/dynamic.cpp
                            src/heap/sampling.cpp PROPERTIES COMPILE_OPTIONS
                                                             "-fno-omit-frame-pointer")

# An allocation of device memory goes through several small functions: position-independent code
# calls each as if another library might replace it, which costs a tenth.
set_source_files_properties(
  src/device/device_core.cpp src/device/pool.cpp src/device/region.cpp src/device/segregated_fit.cpp
  PROPERTIES COMPILE_OPTIONS "-fno-semantic-interposition")

target_compile_features(fallow PUBLIC cxx_std_20)
target_compile_options(fallow PRIVATE ${fallow_warnings})
target_include_directories(
  fallow
  PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
         "$<BUILD_INTERFACE:${fallow_generated_include}>"
  PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(fallow PUBLIC Threads::Threads)
