# LLVM 22, if it is installed: the library target halyard_llvm, and HALYARD_LLVM_COMPILE_OPTIONS for
# the files that see its headers. The virtual GPU needs it; nothing else of the product does.

# llvm-config rather than LLVMConfig.cmake, whose version file rejects 22.1 for a request of 22 and
# which wants every static library of LLVM to be installed.
find_program(HALYARD_LLVM_CONFIG NAMES llvm-config-22)
if(NOT HALYARD_LLVM_CONFIG)
  return()
endif()
execute_process(COMMAND ${HALYARD_LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_include_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${HALYARD_LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_library_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_library(HALYARD_LLVM_LIBRARY NAMES LLVM-22 LLVM HINTS ${llvm_library_dir} NO_DEFAULT_PATH)
if(NOT HALYARD_LLVM_LIBRARY OR NOT EXISTS "${llvm_include_dir}/llvm/MC/MCSubtargetInfo.h")
  return()
endif()
add_library(halyard_llvm INTERFACE)
# After the system's headers: the package has libc++abi's cxxabi.h beside LLVM's own. Only the files
# that HALYARD_LLVM_COMPILE_OPTIONS is given to see it.
set(HALYARD_LLVM_COMPILE_OPTIONS -idirafter ${llvm_include_dir})
target_link_libraries(halyard_llvm INTERFACE ${HALYARD_LLVM_LIBRARY})
