# Fails unless libhalyard.so shows just the symbols of symbols.txt:
#
#   cmake -DNM=nm -DLIBRARY=libhalyard.so.0 -DLIST=symbols.txt [-DWRITE=ON] -P check_symbols.cmake
#
# WRITE writes the list anew. A symbol that goes away breaks programs that use it: give the library
# another SOVERSION and the version script another node then.

foreach(argument NM LIBRARY LIST)
  if(NOT DEFINED ${argument})
    message(FATAL_ERROR "check_symbols.cmake needs -D${argument}=…")
  endif()
endforeach()
execute_process(COMMAND "${NM}" --dynamic --defined-only --format=posix "${LIBRARY}"
  OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} failed (${result}): ${errors}")
endif()
# A line is a name with its version, the kind, value and size.
string(REGEX MATCHALL "[^\n]+" lines "${text}")
set(there "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+) ([A-Za-z])" AND NOT CMAKE_MATCH_2 STREQUAL A)
    list(APPEND there "${CMAKE_MATCH_1}")
  endif()
endforeach()
list(SORT there)
if(WRITE)
  list(JOIN there "\n" text)
  file(WRITE "${LIST}" "${text}\n")
  return()
endif()

file(STRINGS "${LIST}" expected)
set(missing ${expected})
list(REMOVE_ITEM missing ${there})
set(added ${there})
list(REMOVE_ITEM added ${expected})
set(problems "")
if(missing)
  list(JOIN missing "\n  " missing)
  string(APPEND problems "Symbols that programs may use are gone from ${LIBRARY}:\n  ${missing}\n"
         "If that is meant, raise SOVERSION (library/CMakeLists.txt, library/halyard.map).\n")
endif()
if(added)
  list(JOIN added "\n  " added)
  string(APPEND problems "${LIBRARY} shows symbols that ${LIST} does not list:\n  ${added}\n")
endif()
if(problems)
  message(FATAL_ERROR "${problems}c++filt reads the names. To accept the change, run this script with "
                      "-DWRITE=ON.")
endif()
