# Which symbols libhalyard.so shows: what its public headers declare, and nothing else.

# halyard_export_public_headers(TARGET folder…)
# Compiles TARGET so that what the headers below the folders declare can be exported from a shared
# library, and what any other file declares cannot. A header is public by its place, so that none
# needs a macro on each declaration. The first folder is the target's own.
#
# hal/error.h stays hidden: it holds templates, which each user of them instantiates.
function(halyard_export_public_headers target)
  set(text "// Made by cmake/HalyardExports.cmake: the public headers, with visible symbols.\n#pragma once\n")
  set(headers "")
  foreach(folder IN LISTS ARGN)
    get_filename_component(folder "${folder}" ABSOLUTE)
    file(GLOB found CONFIGURE_DEPENDS "${folder}/*/*.h")
    list(APPEND headers ${found})
  endforeach()
  list(FILTER headers EXCLUDE REGEX "/hal/error\\.h$")
  # What they include of other libraries is not ours to export.
  set(foreign "")
  foreach(header IN LISTS headers)
    file(STRINGS "${header}" lines REGEX "^#include <")
    list(APPEND foreign ${lines})
  endforeach()
  list(REMOVE_DUPLICATES foreign)
  list(SORT foreign)
  list(JOIN foreign "\n" foreign)
  string(APPEND text "${foreign}\n#pragma GCC visibility push(default)\n")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "^.*/([^/]+/[^/]+)$" "\\1" header "${header}")
    string(APPEND text "#include \"${header}\"\n")
  endforeach()
  string(APPEND text "#pragma GCC visibility pop\n")
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_exports.h")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${file}\">"
    # No program interposes our functions, so calls within a file can be inlined.
    $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
endfunction()
