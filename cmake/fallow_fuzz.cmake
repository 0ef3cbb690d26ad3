# libFuzzer programs: each fuzz/<name>_fuzzer.cpp becomes build/fuzz/<name>_fuzzer. Clang only.

include_guard(GLOBAL)

# The fuzzers replay their input on the models that the tests compare the heap with.
fallow_sources(fuzz_models tests/heap/model)

file(GLOB fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzzer.cpp")
foreach(source IN LISTS fuzzers)
  cmake_path(GET source STEM name)
  add_executable(${name} "${source}" ${fuzz_models})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${fallow_warnings})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE fallow fallow_analysis)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
