# Selects the Clang that the project is checked with, or whatever clang++ there is.

find_program(FALLOW_CLANGXX NAMES clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER "${FALLOW_CLANGXX}")
