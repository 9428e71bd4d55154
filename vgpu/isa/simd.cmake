# Compiles the lane handlers for several instruction sets of the host (simd.h).
#
# Functions of headers, std::'s as well as our own, end up in several object files under one weak
# symbol, and the linker keeps any one of them: code for AVX-512 could run on a CPU without it. So
# the objects of each build except the baseline are linked into one, in which every symbol except
# the entry becomes local. Then a build uses only its own copies of functions that are not inlined,
# and no other code can use them. What an object does not define stays as it is: the functions of
# sanitizers are asked of their one runtime.

set(HALYARD_SIMD_SOURCES
  buffer.cpp
  flat.cpp
  lds.cpp
  matrix.cpp
  matrix_floats.cpp
  simd_entry.cpp
  valu/general.cpp
  valu/lane_access.cpp
  valu/operands.cpp
  valu/scaled_conversions.cpp
  valu/source_changes.cpp
  valu/tables_byte.cpp
  valu/tables_compare_float.cpp
  valu/tables_compare_integer.cpp
  valu/tables_conversion.cpp
  valu/tables_float16.cpp
  valu/tables_float32.cpp
  valu/tables_float64.cpp
  valu/tables_integer.cpp
  valu/tables_integer16.cpp
  valu/tables_packed.cpp
  valu/tables_small_float.cpp
  valu/tables_transcendental.cpp
  valu/truth_table.cpp
)

# One call that gcc leaves in a loop over lanes keeps it from being vectorised; the helpers of f16
# are many.
set_source_files_properties(valu/tables_float16.cpp valu/tables_packed.cpp PROPERTIES COMPILE_OPTIONS
  "$<$<CXX_COMPILER_ID:GNU>:-finline-limit=2000;--param=max-inline-insns-single=2000;--param=max-inline-insns-auto=2000;--param=large-function-growth=100000;--param=inline-unit-growth=100000>")

function(halyard_simd_options target name)
  target_link_libraries(${target} PRIVATE halyard_options halyard_vgpu_rows)
  target_compile_definitions(${target} PRIVATE HALYARD_SIMD_BUILD=${name})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  # No contraction: v_mad rounds twice, and builds must agree. No code reads float exceptions or
  # errno, and the vectoriser rejects loops that might raise them.
  target_compile_options(${target} PRIVATE
    -ffp-contract=off -fno-strict-aliasing -fno-trapping-math -fno-math-errno
    $<$<CONFIG:Release>:-O3> ${ARGN})
endfunction()

# Sets `out` to the object file of build `name`, compiled with the remaining options.
function(halyard_add_simd_build out name)
  set(target halyard_vgpu_simd_${name})
  add_library(${target} OBJECT ${HALYARD_SIMD_SOURCES})
  # Unique symbols, as gcc makes them for templates' static members, cannot become local.
  halyard_simd_options(${target} ${name} $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> ${ARGN})
  set(object "${CMAKE_CURRENT_BINARY_DIR}/simd_${name}.o")
  add_custom_command(OUTPUT "${object}"
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o "${object}.all" $<TARGET_OBJECTS:${target}>
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=halyard_simd_${name} "${object}.all" "${object}"
    BYPRODUCTS "${object}.all"
    DEPENDS ${target} $<TARGET_OBJECTS:${target}>
    COMMENT "Joining the virtual GPU's handlers for ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${out} "${object}" PARENT_SCOPE)
endfunction()

# The widest instruction set of this machine: `out` is avx512, avx2 or baseline.
function(halyard_native_simd out)
  if(NOT DEFINED HALYARD_VGPU_NATIVE_SIMD)
    set(native baseline)
    set(probe "${CMAKE_CURRENT_BINARY_DIR}/native_simd.cpp")
    file(WRITE "${probe}" [[
int main() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4") ? 4 : __builtin_cpu_supports("x86-64-v3") ? 3 : 0;
}
]])
    if(NOT CMAKE_CROSSCOMPILING)
      try_run(level compiled "${CMAKE_CURRENT_BINARY_DIR}" "${probe}")
      if(compiled AND level EQUAL 4)
        set(native avx512)
      elseif(compiled AND level EQUAL 3)
        set(native avx2)
      endif()
    endif()
    set(HALYARD_VGPU_NATIVE_SIMD "${native}" CACHE INTERNAL "The machine's widest SIMD build")
  endif()
  set(${out} "${HALYARD_VGPU_NATIVE_SIMD}" PARENT_SCOPE)
endfunction()

# Which builds there are. The same sources three times are most of the time that a build takes.
set(HALYARD_VGPU_SIMD all CACHE STRING
    "SIMD builds of the virtual GPU: all, or native: for this machine's CPU only")
set_property(CACHE HALYARD_VGPU_SIMD PROPERTY STRINGS all native)
set(HALYARD_SIMD_BUILDS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  if(HALYARD_VGPU_SIMD STREQUAL all)
    set(HALYARD_SIMD_BUILDS baseline avx2 avx512)
  elseif(HALYARD_VGPU_SIMD STREQUAL native)
    halyard_native_simd(HALYARD_SIMD_BUILDS)
  endif()
endif()
if(NOT HALYARD_VGPU_SIMD MATCHES "^(all|native)$")
  message(FATAL_ERROR "HALYARD_VGPU_SIMD (${HALYARD_VGPU_SIMD}) must be all or native.")
endif()

set(HALYARD_SIMD_OBJECTS "")
if(baseline IN_LIST HALYARD_SIMD_BUILDS)
  add_library(halyard_vgpu_simd_baseline OBJECT ${HALYARD_SIMD_SOURCES})
  halyard_simd_options(halyard_vgpu_simd_baseline baseline)
endif()
if(avx2 IN_LIST HALYARD_SIMD_BUILDS)
  halyard_add_simd_build(object avx2 -march=x86-64-v3)
  list(APPEND HALYARD_SIMD_OBJECTS "${object}")
endif()
if(avx512 IN_LIST HALYARD_SIMD_BUILDS)
  # gcc 12's header for AVX-512 sets variables to themselves, and is warned about it (gcc bug 105593).
  # The other builds look for what our own sources leave uninitialised.
  halyard_add_simd_build(object avx512 -march=x86-64-v4 -mprefer-vector-width=512
    $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  list(APPEND HALYARD_SIMD_OBJECTS "${object}")
endif()

# For simd.cpp: which of them it is linked with, and their names.
list(JOIN HALYARD_SIMD_BUILDS ", " names)
set(HALYARD_SIMD_DEFINITIONS "HALYARD_SIMD_NAMES=\"${names}\"")
foreach(build IN LISTS HALYARD_SIMD_BUILDS)
  string(TOUPPER "${build}" build)
  list(APPEND HALYARD_SIMD_DEFINITIONS HALYARD_SIMD_${build}=1)
endforeach()
