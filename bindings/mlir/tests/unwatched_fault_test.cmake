# A kernel faults and the program waits for nothing: its exit code says so all the same.
execute_process(COMMAND "${PROGRAM}" fault RESULT_VARIABLE code ERROR_VARIABLE errors)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "The exit code is ${code} and should be 1. Standard error: ${errors}")
endif()
if(NOT errors MATCHES "affine")
  message(FATAL_ERROR "Standard error does not name the kernel (affine): ${errors}")
endif()
