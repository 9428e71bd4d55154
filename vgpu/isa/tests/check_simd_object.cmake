# Fails if code outside of the joined object of a SIMD build (simd.cmake) could come to run what is in
# it, on a CPU that cannot:
#
#   cmake -DNM=nm -DREADELF=readelf -DOBJECT=simd_avx512.o -DENTRY=halyard_simd_avx512 -P check_simd_object.cmake
#
# - A symbol that others can see, but for the entry: the linker would let the baseline's references
#   to an inline function end here.
# - A section group: the linker would keep one of several of a name, for all.
# - A section of constructors: the loader would run them, whatever the CPU. Sanitizers make some, which
#   call their runtime and do nothing else: -DSANITIZED=ON allows them. Such a build does not ship.

foreach(argument NM READELF OBJECT ENTRY)
  if(NOT DEFINED ${argument})
    message(FATAL_ERROR "check_simd_object.cmake needs -D${argument}=…")
  endif()
endforeach()

function(output_of out)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed (${result}): ${errors}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# A line is a name, the kind, value and size.
output_of(symbols "${NM}" --defined-only --extern-only --format=posix "${OBJECT}")
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
set(leaked "")
set(has_entry FALSE)
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "^${ENTRY} T ")
    set(has_entry TRUE)
  else()
    string(REGEX REPLACE " [0-9a-f]+( [0-9a-f]+)?$" "" symbol "${symbol}")
    list(APPEND leaked "${symbol}")
  endif()
endforeach()
if(NOT has_entry)
  message(FATAL_ERROR "${OBJECT} does not define the function ${ENTRY}.")
endif()
if(leaked)
  list(LENGTH leaked count)
  list(SUBLIST leaked 0 5 first)
  list(JOIN first "\n  " first)
  message(FATAL_ERROR
    "${OBJECT} defines ${count} symbols that other code can be linked to, and should define only "
    "${ENTRY}. See simd.cmake. The first:\n  ${first}")
endif()

output_of(groups "${READELF}" --section-groups --wide "${OBJECT}")
if(NOT groups MATCHES "There are no section groups")
  message(FATAL_ERROR "${OBJECT} has section groups, which the linker shares by name:\n${groups}")
endif()

if(SANITIZED)
  return()
endif()
output_of(sections "${READELF}" --section-headers --wide "${OBJECT}")
if(sections MATCHES "\\.(preinit_array|init_array|fini_array|ctors|dtors|init|fini)[. ]")
  message(FATAL_ERROR
    "${OBJECT} has the section .${CMAKE_MATCH_1}: the loader runs it, whatever the CPU. Keep objects "
    "with constructors out of HALYARD_SIMD_SOURCES.")
endif()
