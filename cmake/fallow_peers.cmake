# Other allocators and collectors that the benchmarks compare with. Each is used when it is
# installed and left out when it is not; the library itself never sees them.
#
# fallow_peers collects what was found, and a macro FALLOW_BENCH_HAVE_<PEER> for each.

include_guard(GLOBAL)

add_library(fallow_peers INTERFACE)

# Adds one peer: fallow_peer(<NAME> <header> <library> [<linker flag placed before it>])
function(fallow_peer name header library)
  find_path(FALLOW_${name}_INCLUDE_DIR ${header})
  find_library(FALLOW_${name}_LIBRARY ${library})
  mark_as_advanced(FALLOW_${name}_INCLUDE_DIR FALLOW_${name}_LIBRARY)
  if(NOT FALLOW_${name}_INCLUDE_DIR OR NOT FALLOW_${name}_LIBRARY)
    message(STATUS "Benchmarks run without ${library}: it is not installed")
    return()
  endif()
  target_compile_definitions(fallow_peers INTERFACE FALLOW_BENCH_HAVE_${name})
  target_include_directories(fallow_peers SYSTEM INTERFACE "${FALLOW_${name}_INCLUDE_DIR}")
  target_link_libraries(fallow_peers INTERFACE ${ARGN} "${FALLOW_${name}_LIBRARY}")
endfunction()

# The shared mimalloc also exports malloc and operator new, and the first library in the list of
# those that an executable needs wins. Naming the standard libraries first keeps their own allocator
# in place for everything but explicit calls to mi_malloc and friends.
fallow_peer(MIMALLOC mimalloc.h mimalloc
            "-Wl,--push-state,--no-as-needed,-lstdc++,-lc,--pop-state")
fallow_peer(BOEHM gc.h gc)
