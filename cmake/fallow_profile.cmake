# The recorder: a library beside the heap's, since it needs zstd and xxHash. It is left out where
# these are not installed.

include_guard(GLOBAL)

find_path(FALLOW_ZSTD_INCLUDE_DIR zstd.h)
find_library(FALLOW_ZSTD_LIBRARY zstd)
find_path(FALLOW_XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(FALLOW_ZSTD_INCLUDE_DIR FALLOW_ZSTD_LIBRARY FALLOW_XXHASH_INCLUDE_DIR)
if(NOT FALLOW_ZSTD_INCLUDE_DIR
   OR NOT FALLOW_ZSTD_LIBRARY
   OR NOT FALLOW_XXHASH_INCLUDE_DIR)
  message(STATUS "The recorder is not built: zstd or xxHash is missing (make deps)")
  return()
endif()

fallow_sources(profile_record_sources src/profile/record)
add_library(fallow_profile STATIC ${profile_record_sources})
add_library(fallow::profile ALIAS fallow_profile)
set_target_properties(fallow_profile PROPERTIES EXPORT_NAME profile)
target_compile_options(fallow_profile PRIVATE ${fallow_warnings} -fno-omit-frame-pointer)
target_include_directories(
  fallow_profile
  PRIVATE "${PROJECT_SOURCE_DIR}/src"
         "${FALLOW_ZSTD_INCLUDE_DIR}" "${FALLOW_XXHASH_INCLUDE_DIR}")
target_link_libraries(fallow_profile PUBLIC fallow PRIVATE "${FALLOW_ZSTD_LIBRARY}"
                                                          ${CMAKE_DL_LIBS})
# FALLOW_PROFILE works in whatever links this, though nothing there refers to the recorder.
target_link_options(fallow_profile INTERFACE "LINKER:-u,fallow_profile_from_environment")

# Put in front of a program by LD_PRELOAD, it records that program's malloc. Only the allocator's
# functions are visible: a program that has fallow in itself keeps its own.
fallow_sources(profile_malloc_sources src/profile/malloc)
list(FILTER profile_record_sources EXCLUDE REGEX "/environment_init\\.cpp$")
add_library(fallow_malloc_profile SHARED ${profile_malloc_sources} ${profile_record_sources})
set_target_properties(
  fallow_malloc_profile
  PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" CXX_VISIBILITY_PRESET hidden
             VISIBILITY_INLINES_HIDDEN ON)
# The compiler knows malloc and free, and would remove what they do beside their work.
target_compile_options(fallow_malloc_profile PRIVATE ${fallow_warnings} -fno-omit-frame-pointer
                                                     -fno-builtin -fno-optimize-sibling-calls)
target_include_directories(
  fallow_malloc_profile PRIVATE "${PROJECT_SOURCE_DIR}/src" "${FALLOW_ZSTD_INCLUDE_DIR}"
                                "${FALLOW_XXHASH_INCLUDE_DIR}")
target_link_libraries(fallow_malloc_profile PRIVATE fallow "${FALLOW_ZSTD_LIBRARY}"
                                                    ${CMAKE_DL_LIBS})
target_link_options(
  fallow_malloc_profile PRIVATE
  "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/malloc_profile.map" -Wl,-z,nodelete)
