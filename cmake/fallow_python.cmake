# The Python package's extension module, fallow._native. `pip install .` comes here.

include_guard(GLOBAL)

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

fallow_sources(python_sources python/src)
# The size of the module is no concern, the speed of an allocation is. In a domain of its own: what
# is set there is no matter of other packages that use nanobind.
nanobind_add_module(_native NB_STATIC NB_DOMAIN fallow FREE_THREADED NOMINSIZE NOSTRIP
                    NB_SUPPRESS_WARNINGS ${python_sources})
target_compile_options(_native PRIVATE ${fallow_warnings})
target_include_directories(_native PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(_native PRIVATE fallow)
install(TARGETS _native LIBRARY DESTINATION fallow COMPONENT python)
