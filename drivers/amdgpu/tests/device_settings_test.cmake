# What the settings of the device library do to a configuration of the whole project, as on a system
# without the virtual GPU's LLVM, and that the library builds from source. Run by ctest with
# cmake -DBINARY_DIR=… -DGENERATOR=… -DLLVM=<bool> -DROCM=<folder with bin/clang, or empty> -P.
cmake_minimum_required(VERSION 3.25)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

# Sets `result` and `text` (its white space made single spaces) to what cmake says. `targets` are
# those of HALYARD_DEVICE_TARGETS, with commas between them.
macro(configure targets)
  # The cache is of this configuration only; programs that are set to nothing are not looked for.
  file(REMOVE "${BINARY_DIR}/CMakeCache.txt")
  string(REPLACE "," ";" list "${targets}")
  file(WRITE "${BINARY_DIR}/targets.cmake" "set(HALYARD_DEVICE_TARGETS \"${list}\" CACHE STRING \"\")\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${root}" -B "${BINARY_DIR}" -G "${GENERATOR}"
            -C "${BINARY_DIR}/targets.cmake"
            -DHALYARD_VGPU=OFF -DHALYARD_TESTS=OFF -DHALYARD_BENCHMARKS=OFF -DHALYARD_LLVM_CONFIG=
            ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
endmacro()

function(expect_refusal says targets)
  configure("${targets}" ${ARGN})
  string(FIND "${text}" "${says}" at)
  if(result EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "(${targets} ${ARGN}) gives ${result} and (${text}), which does not say (${says}).")
  endif()
endfunction()

# Configures, compares the rows of the library's table, and builds the code objects in it.
function(expect_targets expected targets)
  configure("${targets}" ${ARGN})
  if(NOT result EQUAL 0)
    message(SEND_ERROR "(${targets} ${ARGN}) is refused: ${text}")
    return()
  endif()
  file(STRINGS "${BINARY_DIR}/drivers/amdgpu/device/table.cpp" rows REGEX "{\"gfx")
  list(TRANSFORM rows REPLACE "^ *{\"([^\"]*)\".*" "\\1")
  if(NOT rows STREQUAL expected)
    message(SEND_ERROR "(${targets} ${ARGN}) gives (${rows}), not (${expected}).")
  endif()
  if(NOT "${ARGN}" MATCHES "=source")
    return()
  endif()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" --build "${BINARY_DIR}" --target halyard_device_binaries
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "(${targets} ${ARGN}) does not build: ${text}")
  endif()
endfunction()

set(source -DHALYARD_DEVICE_BINARIES=source)

expect_refusal("HALYARD_DEVICE_BINARIES has no setting (compiled). It is prebuilt or source." ""
               -DHALYARD_DEVICE_BINARIES=compiled)
expect_refusal("HALYARD_DEVICE_TOOLCHAIN has no setting (gcc). It is llvm or rocm." ""
               ${source} -DHALYARD_DEVICE_TOOLCHAIN=gcc)
expect_refusal("HALYARD_DEVICE_TOOLCHAIN (rocm) has no effect on prebuilt" ""
               -DHALYARD_DEVICE_TOOLCHAIN=rocm)
expect_refusal("HALYARD_DEVICE_TOOLCHAIN_PATH (/usr) has no effect on prebuilt" ""
               -DHALYARD_DEVICE_TOOLCHAIN_PATH=/usr)
expect_refusal("nothing named (gfx803)" gfx803)
expect_refusal("gfx90a cannot say (:xnac+)" gfx90a:xnac+)
expect_refusal("names a target (gfx1250) that is not checked in. There are gfx10-1-generic," gfx1250)
expect_refusal("The llvm toolchain has no clang at /nonexistent/bin/clang or /nonexistent/clang" ""
               ${source} -DHALYARD_DEVICE_TOOLCHAIN_PATH=/nonexistent)
expect_refusal("The rocm toolchain has no clang at /nonexistent/llvm/bin/clang" ""
               ${source} -DHALYARD_DEVICE_TOOLCHAIN=rocm -DHALYARD_DEVICE_TOOLCHAIN_PATH=/nonexistent)

# Of the checked-in set a processor takes its generic target.
expect_targets("gfx9-4-generic;gfx9-generic;gfx90a" mi300x,gfx906,gfx900,gfx90a)

if(LLVM)
  expect_targets("gfx942;gfx9-generic;gfx90a:xnack+" mi300x,gfx9-generic,gfx90a:xnack+ ${source})
endif()
if(ROCM)
  expect_refusal("names no processor that ${ROCM}/bin/clang compiles for. It knows" gfx9-generic
                 ${source} -DHALYARD_DEVICE_TOOLCHAIN=rocm "-DHALYARD_DEVICE_TOOLCHAIN_PATH=${ROCM}")
  expect_targets("gfx900;gfx90a" gfx900,gfx90a
                 ${source} -DHALYARD_DEVICE_TOOLCHAIN=rocm "-DHALYARD_DEVICE_TOOLCHAIN_PATH=${ROCM}")
endif()

# The whole project with its tests, where there is no LLVM and no other compiler.
configure("" -DHALYARD_TESTS=ON -DHALYARD_CLANGXX= -DHALYARD_CLANG_22= -DHALYARD_BUNDLER_22=)
if(NOT result EQUAL 0)
  message(SEND_ERROR "A configuration without LLVM is refused: ${text}")
endif()
