# How every target of the project is compiled: language level, warnings, sanitizers, where the
# results go, and the one way to declare a test.

include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree has the shape of the install tree, so that plugins and the virtual GPU are found
# the same way in both: relative to the program or library that looks for them.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(HALYARD_PLUGIN_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/halyard/plugins")
set(HALYARD_VGPU_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/halyard/vgpu")
set(HALYARD_CONFIG_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/share/halyard/config")

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

add_library(halyard_options INTERFACE)
target_include_directories(halyard_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(halyard_options INTERFACE
  -Wall -Wextra $<$<BOOL:${HALYARD_WERROR}>:-Werror> -Wno-unknown-pragmas
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  # gcc 12 reports an overlap inside of std::string's operator+ that is not there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

if(HALYARD_SANITIZE)
  add_compile_options(-fsanitize=${HALYARD_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HALYARD_SANITIZE})
  # With their code in between, gcc takes parts of std::regex for uninitialised.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(HALYARD_SANITIZE MATCHES "undefined")
    # Reads RTTI through the host's C++ library; a plugin's objects may have been made with another
    # one's. RTTI is no part of the plugin ABI.
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()

if(HALYARD_FUZZ)
  # Every library, so that the fuzzer sees its branches.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# In a build from nothing, more than half of the compilers' time goes into headers that each file of a
# target reads again. The price: names of a target's files must differ, in anonymous namespaces too, and
# a change compiles its file's neighbours. ./check and ./quickstart build so.
option(HALYARD_UNITY "Compile eight files of a target at once, in half the time of a build from nothing" OFF)
if(HALYARD_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  # gcc takes what another file includes for a header, and warns of classes there whose members' types
  # are in anonymous namespaces.
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endif()

find_program(HALYARD_CCACHE ccache)
if(HALYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${HALYARD_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HALYARD_CCACHE}")
endif()

if(HALYARD_TESTS OR HALYARD_CTS)
  find_package(GTest REQUIRED)
endif()
if(HALYARD_TESTS)
  enable_testing()
  include(GoogleTest)
endif()

# halyard_compile_fast(TARGET…)
# Compiles the targets' own files with -O1 in a release build, in less than two thirds of the time that
# -O3 takes: for tests and for commands, which spend their time in the libraries that they call.
function(halyard_compile_fast)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>
      # With so little inlined, gcc takes some variables for uninitialised that are not.
      $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=maybe-uninitialized>)
  endforeach()
endfunction()

# halyard_add_test(NAME SOURCES file… [LIBS target…] [ENVIRONMENT VAR=value…] [TIMEOUT seconds]
#                  [TOGETHER] [COMPUTES])
# A gtest program whose every test is one ctest test; TOGETHER: which is one ctest test, since a
# set-up that all of its tests share takes long. COMPUTES: it spends its time in its own files, on
# results to compare with, and is compiled as the libraries are. NAME becomes the program's name.
function(halyard_add_test name)
  if(NOT HALYARD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER;COMPUTES" "TIMEOUT" "SOURCES;LIBS;ENVIRONMENT")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE halyard_options ${arg_LIBS} GTest::gmock GTest::gtest_main)
  if(NOT arg_COMPUTES)
    halyard_compile_fast(${name})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  if(arg_TOGETHER)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
    # Of several variables, which only this command takes.
    set_property(TEST ${name} PROPERTY ENVIRONMENT "${arg_ENVIRONMENT}")
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       PROPERTIES ${properties})
endfunction()
