# What `cmake --install` lays down: the library, its headers, a CMake package and a pkg-config file.

include_guard(GLOBAL)

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(fallow_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/fallow")
set(fallow_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

target_include_directories(fallow INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(TARGETS fallow EXPORT fallowTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${fallow_generated_include}/"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(EXPORT fallowTargets NAMESPACE fallow:: DESTINATION "${fallow_package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/fallowConfig.cmake.in" "${PROJECT_BINARY_DIR}/fallowConfig.cmake"
  INSTALL_DESTINATION "${fallow_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fallowConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fallowConfig.cmake"
              "${PROJECT_BINARY_DIR}/fallowConfigVersion.cmake"
        DESTINATION "${fallow_package_dir}")

# The .pc file finds its prefix from where it lies, so that an installed tree can be moved and
# `cmake --install --prefix` may name another prefix than the configured one.
file(RELATIVE_PATH fallow_pc_to_prefix "/${fallow_pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" fallow_pc_to_prefix "${fallow_pc_to_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/fallow.pc.in" "${PROJECT_BINARY_DIR}/fallow.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/fallow.pc" DESTINATION "${fallow_pkgconfig_dir}")
