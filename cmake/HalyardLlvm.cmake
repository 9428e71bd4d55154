# LLVM from 19 to 22, the newest that is installed: the library target halyard_llvm, and
# HALYARD_LLVM_COMPILE_OPTIONS for the files that see its headers. Tests compare the virtual
# GPU's decoder with it; the product neither links it nor needs it to build.
# -DHALYARD_LLVM_CONFIG=/usr/bin/llvm-config-19 chooses another.

# The versions that decode instructions: all that tests compare.
set(HALYARD_LLVM_VERSIONS 22 21 20 19)

# Sets ${prefix}_INCLUDES and ${prefix}_LIBRARY from an llvm-config, or the latter to nothing. That
# rather than LLVMConfig.cmake, whose version file rejects 22.1 for a request of 22 and which wants
# every static library of LLVM to be installed.
function(halyard_ask_llvm_config prefix program)
  foreach(fact includedir libdir version)
    execute_process(COMMAND ${program} --${fact} OUTPUT_VARIABLE ${fact}
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  string(REGEX MATCH "^[0-9]+" major "${version}")
  unset(library)
  if(EXISTS "${includedir}/llvm/MC/MCSubtargetInfo.h")
    find_library(library NAMES LLVM-${major} LLVM HINTS ${libdir} NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT library)
    set(library "")
  endif()
  set(${prefix}_INCLUDES "${includedir}" PARENT_SCOPE)
  set(${prefix}_LIBRARY "${library}" PARENT_SCOPE)
  set(${prefix}_VERSION "${major}" PARENT_SCOPE)
endfunction()

list(TRANSFORM HALYARD_LLVM_VERSIONS PREPEND "llvm-config-" OUTPUT_VARIABLE llvm_programs)
find_program(HALYARD_LLVM_CONFIG NAMES ${llvm_programs})
if(NOT HALYARD_LLVM_CONFIG)
  return()
endif()
halyard_ask_llvm_config(HALYARD_LLVM ${HALYARD_LLVM_CONFIG})
if(NOT HALYARD_LLVM_LIBRARY)
  return()
endif()
if(NOT HALYARD_LLVM_VERSION IN_LIST HALYARD_LLVM_VERSIONS)
  message(FATAL_ERROR "The virtual GPU decodes instructions with LLVM 19 to 22, and "
    "HALYARD_LLVM_CONFIG (${HALYARD_LLVM_CONFIG}) is that of ${HALYARD_LLVM_VERSION}.")
endif()
add_library(halyard_llvm INTERFACE)
# After the system's headers: the package has libc++abi's cxxabi.h beside LLVM's own. Only the files
# that HALYARD_LLVM_COMPILE_OPTIONS is given to see it.
set(HALYARD_LLVM_COMPILE_OPTIONS -idirafter ${HALYARD_LLVM_INCLUDES})
target_link_libraries(halyard_llvm INTERFACE ${HALYARD_LLVM_LIBRARY})
