# fallow_analysis: reads, explains and exports recordings. Apart from the library, so that programs
# that embed the heap need none of this.

include_guard(GLOBAL)

find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(fallow_libdw REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(fallow_zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(fallow_xxhash REQUIRED IMPORTED_TARGET libxxhash)

# The page of `fallow report` is written as a page, and compiled in.
set(report_folder "${PROJECT_SOURCE_DIR}/src/profile/export/report")
foreach(part IN ITEMS page.html style.css model.js icicle.js sediment.js pauses.js main.js)
  cmake_path(GET part STEM name)
  file(READ "${report_folder}/${part}" report_${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${report_folder}/${part}")
endforeach()
set(report_assets "${PROJECT_BINARY_DIR}/report_assets.cpp")
configure_file("${report_folder}/report_assets.cpp.in" "${report_assets}" @ONLY)

fallow_sources(analysis_sources src/profile/analysis)
fallow_sources(export_sources src/profile/export)
add_library(fallow_analysis STATIC ${analysis_sources} ${export_sources} "${report_assets}")
add_library(fallow::analysis ALIAS fallow_analysis)
target_compile_options(fallow_analysis PRIVATE ${fallow_warnings})
target_include_directories(fallow_analysis PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(
  fallow_analysis
  PUBLIC fallow
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB PkgConfig::fallow_libdw
          PkgConfig::fallow_zstd PkgConfig::fallow_xxhash)
