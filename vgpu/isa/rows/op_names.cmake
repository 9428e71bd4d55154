# Writes the names of all rows, in their order, to OUT: what enum class Op is made of. A row can then
# change without a rebuild of everything that names an instruction.
file(STRINGS "${ROWS}/all.inc" includes REGEX "^#include")
set(names "")
foreach(include IN LISTS includes)
  string(REGEX REPLACE ".*/([a-z_]+\\.inc).*" "\\1" file "${include}")
  file(STRINGS "${ROWS}/${file}" rows REGEX "^INSTRUCTION\\(")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^INSTRUCTION\\(([a-z0-9_]+),.*" "\\1" name "${row}")
    string(APPEND names "${name},\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT "${OUT}" CONTENT "${names}" @ONLY)
