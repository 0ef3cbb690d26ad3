# The command line tool `fallow` and the benchmarks it runs.

include_guard(GLOBAL)

find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

# Both see the inside of the library: the benchmarks measure single layers, and the tool prints
# state that the public headers do not offer.
add_library(fallow_tool_requirements INTERFACE)
target_compile_options(fallow_tool_requirements INTERFACE ${fallow_warnings})
target_include_directories(fallow_tool_requirements INTERFACE "${PROJECT_SOURCE_DIR}"
                                                              "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(fallow_tool_requirements INTERFACE fallow CLI11::CLI11 fmt::fmt
                                                         nlohmann_json::nlohmann_json)

fallow_sources(bench_sources bench)
add_library(fallow_bench STATIC ${bench_sources})
# Loops of a dozen instructions run up to twice as long when they straddle a line of 64 bytes. All
# subjects of these files get the same alignment, so that their ratios are not a matter of luck.
set_source_files_properties(
  bench/alloc.cpp bench/cell_loop.cpp bench/roofline.cpp
  PROPERTIES COMPILE_OPTIONS
             "-falign-loops=64;$<$<CXX_COMPILER_ID:GNU>:-falign-jumps=64>")
# Stacks begin in these loops.
set_source_files_properties(bench/sample.cpp bench/gcbench.cpp bench/preloaded_run.cpp
                            PROPERTIES COMPILE_OPTIONS -fno-omit-frame-pointer)
target_link_libraries(fallow_bench PUBLIC fallow_tool_requirements PRIVATE fallow_peers
                                                                           fallow_profile)

# Everything but main() is a library, so that tests can link it.
fallow_sources(tool_sources tools/fallow)
set(tool_main "${PROJECT_SOURCE_DIR}/tools/fallow/main.cpp")
list(REMOVE_ITEM tool_sources "${tool_main}")
add_library(fallow_tool_parts STATIC ${tool_sources})
target_include_directories(fallow_tool_parts PUBLIC "${PROJECT_SOURCE_DIR}/tools/fallow")
target_link_libraries(fallow_tool_parts PUBLIC fallow_tool_requirements fallow_bench
                                               fallow_analysis)

add_executable(fallow_tool "${tool_main}")
set_target_properties(fallow_tool PROPERTIES OUTPUT_NAME fallow
                                             RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_link_libraries(fallow_tool PRIVATE fallow_tool_parts)
# `fallow record` looks for it beside the tool.
add_dependencies(fallow_tool fallow_malloc_profile)
