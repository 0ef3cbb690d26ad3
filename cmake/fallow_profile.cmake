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
