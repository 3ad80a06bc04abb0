# How every target of Fidelio is compiled: warnings, sanitizers, and the instruction set level.

# FIDELIO_ISA_LEVELS: the levels of x86-64 for which core is built. The first is what every executable needs at least and
# goes to lib/; the others go to lib/glibc-hwcaps/x86-64-<level>/, where the dynamic loader prefers the best that the CPU
# supports. On other architectures there is one level, the compiler's default.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(FIDELIO_ISA_LEVELS "v2;v3;v4" CACHE STRING "x86-64 levels of the core library, lowest first")
else()
  set(FIDELIO_ISA_LEVELS "default")
endif()
if(FIDELIO_CORE_OF)
  if(NOT EXISTS ${FIDELIO_CORE_OF}/CMakeCache.txt)
    message(FATAL_ERROR "FIDELIO_CORE_OF: ${FIDELIO_CORE_OF} is no build directory; build the preset release first")
  endif()
  load_cache(${FIDELIO_CORE_OF} READ_WITH_PREFIX core_of_ FIDELIO_ISA_LEVELS)
  if(core_of_FIDELIO_ISA_LEVELS)
    set(FIDELIO_ISA_LEVELS ${core_of_FIDELIO_ISA_LEVELS})
  endif()
endif()
list(GET FIDELIO_ISA_LEVELS 0 FIDELIO_BASE_LEVEL)

# Sets `out` to the compiler options of an ISA level.
function(fidelio_isa_options level out)
  if(level STREQUAL "default")
    set(${out} "" PARENT_SCOPE)
  elseif(level STREQUAL "native")
    set(${out} -march=native PARENT_SCOPE)
  elseif(level MATCHES "^v[234]$")
    set(${out} -march=x86-64-${level} -mtune=generic PARENT_SCOPE)
  else()
    message(FATAL_ERROR "FIDELIO_ISA_LEVELS: \"${level}\" is not one of v2, v3, v4")
  endif()
endfunction()

# Options of every target, whatever its level. Memory that Eigen allocates in one library is freed in another, so all of
# them agree on its alignment: that of the highest level.
add_library(fidelio_options INTERFACE)
target_include_directories(fidelio_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(fidelio_options INTERFACE EIGEN_MAX_ALIGN_BYTES=64)
target_compile_options(
  fidelio_options
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wextra-semi
            -Wcast-align
            -Wunused
            -Wno-psabi
            $<$<BOOL:${FIDELIO_WERROR}>:-Werror>
            # GCC 12 reports these falsely for inlined code of Eigen and of std::string.
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>)
target_link_libraries(fidelio_options INTERFACE Eigen3::Eigen Threads::Threads)
if(FIDELIO_SANITIZE)
  target_compile_options(fidelio_options INTERFACE -fsanitize=${FIDELIO_SANITIZE} -fno-omit-frame-pointer
                                                   -fno-sanitize-recover=all)
  target_link_options(fidelio_options INTERFACE -fsanitize=${FIDELIO_SANITIZE})
endif()

# Headers of others, for fidelio_quicken.
set(FIDELIO_CORE_PCH <Eigen/Core> <algorithm> <cmath> <functional> <memory> <string> <vector> <absl/status/statusor.h>
                     <absl/strings/str_cat.h>)
set(FIDELIO_RPC_PCH ${FIDELIO_CORE_PCH} <absl/time/time.h> <fidelio/v1/emulator.grpc.pb.h>)

# Compiles the sources that `target` has so far several at once when FIDELIO_UNITY is on: those of one directory, up to
# `most` at a time. What headers and templates cost is paid once for all of them. Sets `out` to how often the compiler
# runs for them.
function(fidelio_unite target most out)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  if(NOT FIDELIO_UNITY)
    list(LENGTH sources count)
    set(${out} ${count} PARENT_SCOPE)
    return()
  endif()
  set(directories "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH directory)
    list(APPEND directories ${directory})
    list(APPEND "sources of ${directory}" ${source})
  endforeach()
  list(REMOVE_DUPLICATES directories)
  set(all 0)
  foreach(directory IN LISTS directories)
    list(LENGTH "sources of ${directory}" count)
    math(EXPR units "(${count} + ${most} - 1) / ${most}")
    math(EXPR all "${all} + ${units}")
    string(REPLACE ${PROJECT_BINARY_DIR}/ "" name ${directory})
    string(REPLACE ${PROJECT_SOURCE_DIR}/ "" name ${name})
    string(REPLACE / _ name ${name})
    set(k 0)
    foreach(source IN LISTS "sources of ${directory}")
      math(EXPR unit "${k} * ${units} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${unit})
      math(EXPR k "${k} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes sources that another file includes for headers, whose classes should not be made of what is theirs alone.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# The same, and precompiles headers that do not belong to the project when FIDELIO_PCH is on, unless the compiler runs
# so rarely that reading them each time is quicker.
function(fidelio_quicken target most)
  fidelio_unite(${target} ${most} units)
  if(FIDELIO_PCH AND ARGN AND units GREATER 3)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# Adds an executable to bin/ that runs on every CPU of the base level and loads the best core for the one it is on.
function(fidelio_add_executable name)
  add_executable(${name} ${ARGN})
  fidelio_isa_options(${FIDELIO_BASE_LEVEL} isa_options)
  target_compile_options(${name} PRIVATE ${isa_options})
  target_link_libraries(${name} PRIVATE fidelio_options fidelio_core)
  # RUNPATH, not RPATH: LD_LIBRARY_PATH comes first. The same in the build tree and once installed.
  target_link_options(${name} PRIVATE LINKER:--enable-new-dtags)
  # core comes before static libraries that need it, and is kept whoever needs it.
  target_link_options(${name} PRIVATE LINKER:--no-as-needed)
  set_target_properties(
    ${name}
    PROPERTIES CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               INSTALL_RPATH $ORIGIN/../lib
               BUILD_WITH_INSTALL_RPATH ON)
  add_dependencies(${name} fidelio_core_levels)
endfunction()
