# Registers every test with CTest. CONTRIBUTING.md says how to add one.

include_guard(GLOBAL)

find_package(GTest)
find_package(rapidcheck QUIET)
find_package(Python3 COMPONENTS Interpreter)
if(NOT GTest_FOUND OR NOT rapidcheck_FOUND OR NOT Python3_FOUND)
  # The tool alone must build on a machine that has none of these.
  message(STATUS "Tests are not built: GoogleTest, RapidCheck or Python 3 is missing (make deps)")
  return()
endif()

include(GoogleTest)

# One executable per folder below tests/ that mirrors a layer. Each test is labelled with the name
# of the folder, or as <folder>.threads when its full name contains "Threads": `ctest -L` takes a
# part of a label, so that both words select it. (CMake 3.25 cannot pass two labels through here.)
function(fallow_test_folder folder)
  fallow_sources(sources tests/${folder})
  if(FALLOW_SANITIZE MATCHES "thread")
    list(FILTER sources EXCLUDE REGEX "/replaced_new\\.cpp$")
  endif()
  if(NOT sources)
    return()
  endif()
  set(target fallow_test_${folder})
  add_executable(${target} ${sources})
  target_compile_options(${target} PRIVATE ${fallow_warnings})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src"
                                               "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE fallow ${ARGN} rapidcheck_gtest GTest::gtest
                                          GTest::gtest_main)
  # GoogleTest's header costs more than most tests. Not where warnings count and the compiler is
  # GCC: from a precompiled header it reports what it passes over in a system header.
  set(shared_header "${PROJECT_SOURCE_DIR}/tests/${folder}/test_support.h")
  if(NOT EXISTS "${shared_header}")
    set(shared_header <gtest/gtest.h>)
  endif()
  if(FALLOW_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_precompile_headers(${target} PRIVATE "${shared_header}")
  endif()
  gtest_discover_tests(
    ${target}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    TEST_PREFIX "${folder}."
    TEST_FILTER "-*Threads*"
    PROPERTIES LABELS "${folder}" TIMEOUT 300)
  gtest_discover_tests(
    ${target}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    TEST_PREFIX "${folder}."
    TEST_FILTER "*Threads*"
    PROPERTIES LABELS "${folder}.threads" PROCESSORS 2 TIMEOUT 300)
endfunction()

foreach(layer IN LISTS fallow_layers)
  set(libraries "")
  if(layer STREQUAL "profile")
    set(libraries fallow_profile fallow_analysis nlohmann_json::nlohmann_json ZLIB::ZLIB PkgConfig::fallow_zstd
                  PkgConfig::fallow_xxhash)
  endif()
  fallow_test_folder(${layer} ${libraries})
endforeach()
# Whose stacks are looked at.
target_compile_options(fallow_test_profile PRIVATE -fno-omit-frame-pointer
                                                   -fno-optimize-sibling-calls)
target_sources(fallow_test_profile
               PRIVATE "${PROJECT_SOURCE_DIR}/src/profile/malloc/malloc_sampler.cpp")
# A program of its own, for the preloaded malloc to record.
add_executable(fallow_test_profile_victim tests/profile_victim/victim.cpp)
target_compile_options(fallow_test_profile_victim
                       PRIVATE ${fallow_warnings} -fno-omit-frame-pointer
                               -fno-optimize-sibling-calls -fno-builtin)
target_link_libraries(fallow_test_profile_victim PRIVATE Threads::Threads)
target_compile_definitions(
  fallow_test_profile
  PRIVATE FALLOW_VICTIM_PATH="$<TARGET_FILE:fallow_test_profile_victim>"
          FALLOW_MALLOC_LIBRARY_PATH="$<TARGET_FILE:fallow_malloc_profile>")
add_dependencies(fallow_test_profile fallow_test_profile_victim fallow_malloc_profile)
# The machine code of what is inlined into programs: apart, since each compiler's is looked at.
fallow_test_folder(codegen)

if(FALLOW_BUILD_TOOL)
  fallow_test_folder(tools fallow_tool_parts)
  # Recordings that nobody has recorded.
  target_sources(fallow_test_tools PRIVATE "${PROJECT_SOURCE_DIR}/tests/profile/recording_builder.cpp"
                                           "${PROJECT_SOURCE_DIR}/tests/profile/simulated_program.cpp")
  target_link_libraries(fallow_test_tools PRIVATE PkgConfig::fallow_zstd PkgConfig::fallow_xxhash)
  # For the tests that run the real executable.
  target_compile_definitions(fallow_test_tools
                             PRIVATE FALLOW_TOOL_PATH="$<TARGET_FILE:fallow_tool>")
  add_dependencies(fallow_test_tools fallow_tool)
endif()

# Code that must not compile. A sanitizer changes nothing there, so those builds leave it out.
if(NOT FALLOW_SANITIZE)
  file(GLOB compile_fail_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cpp")
  foreach(source IN LISTS compile_fail_sources)
    cmake_path(GET source STEM name)
    add_test(
      NAME compile_fail.${name}
      COMMAND
        Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/compile_fail/check_compile_failure.py"
        "${source}" -- "${CMAKE_CXX_COMPILER}" -std=c++20 -I "${PROJECT_SOURCE_DIR}/include" -I
        "${fallow_generated_include}" -I "${PROJECT_SOURCE_DIR}/src")
    set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 60)
  endforeach()
endif()

# Checks of the source tree. One build registers them, since they do not depend on the compiler.
# `slow` marks those that `make test-quick` leaves out.
function(fallow_repository_test name labels)
  add_test(NAME repository.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(repository.${name} PROPERTIES LABELS "repository;${labels}" TIMEOUT 1200)
endfunction()

if(FALLOW_REPOSITORY_TESTS)
  set(checks "${PROJECT_SOURCE_DIR}/tests/repository")
  fallow_repository_test(include_ladder "" Python3::Interpreter "${checks}/check_include_ladder.py")
  fallow_repository_test(include_ladder_self_test "" Python3::Interpreter
                         "${checks}/check_include_ladder.py" --self-test)
  fallow_repository_test(
    guide "" Python3::Interpreter "${checks}/check_guide.py" docs/guide.md -- "${CMAKE_CXX_COMPILER}"
    -std=c++20 -Wall -Wextra -Werror -I "${PROJECT_SOURCE_DIR}/include" -I
    "${fallow_generated_include}")
  fallow_repository_test(doc_links "" Python3::Interpreter "${checks}/check_doc_links.py")
  fallow_repository_test(format "" "${checks}/check_format.sh")
  fallow_repository_test(clang_tidy slow "${checks}/run_clang_tidy.sh" "${PROJECT_BINARY_DIR}")
  fallow_repository_test(installed_package slow "${checks}/installed_package_test.sh"
                         "${PROJECT_BINARY_DIR}")
  if(FALLOW_BUILD_TOOL)
    fallow_repository_test(options_page "" Python3::Interpreter "${checks}/check_options_page.py"
                           "$<TARGET_FILE:fallow_tool>" docs/options.md)
    fallow_repository_test(own_malloc "" "${checks}/check_own_malloc.sh"
                           "$<TARGET_FILE:fallow_tool>")
  endif()
endif()
