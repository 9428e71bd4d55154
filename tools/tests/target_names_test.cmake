# What cmake/HalyardTargetNames.cmake makes of names. Run by ctest with cmake -P; NAMES is expanded
# where it is given, which is how this script makes a failure of its own.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/HalyardTargetNames.cmake")

if(DEFINED NAMES)
  halyard_expand_targets(unused ${NAMES})
  return()
endif()

function(expect names expected)
  halyard_expand_targets(targets ${names})
  if(NOT targets STREQUAL expected)
    message(FATAL_ERROR "(${names}) gives (${targets}), not (${expected}).")
  endif()
endfunction()

function(expect_refusal names says)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DNAMES=${names}" -P "${CMAKE_CURRENT_LIST_FILE}"
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${text}" "${says}" at)
  if(result EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "(${names}) gives ${result} and (${text}), which does not say (${says}).")
  endif()
endfunction()

expect("gfx900;gfx9-generic" "gfx900;gfx9-generic")
expect("cdna3;gfx942" "gfx942")
expect("rdna3.5" "gfx1150;gfx1151;gfx1152;gfx1153")
expect("gfx120X-all" "gfx1200;gfx1201")
expect("w7900-dual-slot;mi250x" "gfx1100;gfx90a")
expect("gfx90a:xnack-:sramecc+" "gfx90a:sramecc+:xnack-")
expect("mi300x:xnack+;gfx9-4-generic:xnack+" "gfx942:xnack+;gfx9-4-generic:xnack+")
expect("" "")

expect_refusal("gfx803" "nothing named (gfx803)")
expect_refusal(":xnack+" "nothing named ()")
expect_refusal("gfx1100:xnack+" "gfx1100 cannot say (:xnack+)")
expect_refusal("gfx1250:xnack+" "gfx1250 cannot say (:xnack+)")
expect_refusal("gfx90a:xnack" "cannot say (:xnack)")
expect_refusal("gfx90a:" "cannot say (:)")
expect_refusal("gfx90a:xnack+:" "cannot say (:xnack+:)")
expect_refusal("gfx90a:xnack+:xnack-" "cannot say (:xnack+:xnack-)")
