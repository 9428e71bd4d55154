# halyard_add_driver(NAME name SOURCES file… [LIBS target…] [OUTPUT_DIRECTORY folder] [NO_INSTALL])
#
# Builds libhalyard_driver_<name>.so, a Halyard driver plugin: a target halyard_driver_<name> that
# exports the one symbol `halyard_plugin`, has no undefined symbols, and is installed to
# lib/halyard/plugins. NAME is the name in --device=NAME, and must be the one that HALYARD_PLUGIN
# says: the registry refuses a file whose name promises another driver.
#
# Inside Halyard's build, plugins/CMakeLists.txt includes this file. Elsewhere find_package(Halyard
# CONFIG) does, or include it by its path in a checkout (halyard/plugins/HalyardDriver.cmake).
#
# It makes the targets that a driver links:
#
#   Halyard::driver_sdk    the driver's side of the interface; halyard_add_driver links it
#   Halyard::driver_core   what drivers share (plugins/sdk): name it in LIBS
#
# With an installed Halyard and the C++ library that it was built with these are static libraries. In
# a checkout, with another C++ library (clang's -stdlib=libc++) and with
# HALYARD_SDK_FROM_SOURCE=ON they are compiled here, from the same sources. The compiler and the C++
# library need not be those of the program that will load the driver.

include_guard(GLOBAL)

get_filename_component(HALYARD_DRIVER_SDK_DIRECTORY "${CMAKE_CURRENT_LIST_FILE}" DIRECTORY)
set(HALYARD_DRIVER_SDK_DIRECTORY "${HALYARD_DRIVER_SDK_DIRECTORY}" CACHE INTERNAL "")

# Sets `out` to whether the compiler's C++ library is the one that installed static libraries want.
function(_halyard_has_libstdcxx out)
  include(CheckCXXSourceCompiles)
  # -stdlib may be among the options of the folder, which checks do not see.
  get_directory_property(options COMPILE_OPTIONS)
  list(FILTER options INCLUDE REGEX "^-stdlib=")
  list(JOIN options " " CMAKE_REQUIRED_FLAGS)
  string(MAKE_C_IDENTIFIER "HALYARD_HAS_LIBSTDCXX${CMAKE_REQUIRED_FLAGS}" variable)
  check_cxx_source_compiles(
    "#include <cstddef>\n#ifndef __GLIBCXX__\n#error another C++ library\n#endif\nint main() {}\n"
    ${variable})
  set(${out} "${${variable}}" PARENT_SCOPE)
endfunction()

# Makes, in `folder`, headers for drivers that include the contract as plugins/X.h and the driver core as
# drivers/common/X.h, which is where both were once: each includes today's.
function(halyard_former_headers root folder)
  set(todays hal/contract plugins/sdk)
  set(formers plugins drivers/common)
  foreach(today was IN ZIP_LISTS todays formers)
    file(GLOB headers RELATIVE "${root}/${today}" CONFIGURE_DEPENDS "${root}/${today}/*.h")
    foreach(header IN LISTS headers)
      file(CONFIGURE OUTPUT "${folder}/${was}/${header}" CONTENT "#include \"${today}/${header}\"\n")
    endforeach()
  endforeach()
endfunction()

# Compiles hal and the driver core for this project.
function(_halyard_compile_sdk root)
  find_package(Threads REQUIRED)
  find_package(fmt REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(HALYARD_SDK_LIBRARIES REQUIRED IMPORTED_TARGET libelf zlib libzstd libmd)
  if(EXISTS "${root}/hal/include")  # a checkout
    halyard_former_headers("${root}" "${CMAKE_CURRENT_BINARY_DIR}/halyard-former-headers")
    set(include_directories "${root}" "${root}/hal/include" "${CMAKE_CURRENT_BINARY_DIR}/halyard-former-headers")
  else()  # PREFIX/share/halyard/sdk
    get_filename_component(include_directories "${root}/../../../include/halyard" ABSOLUTE)
  endif()
  if(NOT EXISTS "${root}/hal/src/status.cpp")
    message(FATAL_ERROR "HalyardDriver.cmake does not find hal's sources in ${root}/hal/src.")
  endif()
  find_path(HALYARD_MSGPACK_INCLUDE msgpack.hpp)
  if(NOT HALYARD_MSGPACK_INCLUDE)
    message(FATAL_ERROR "Compiling Halyard's part of a driver takes msgpack's headers (Debian: libmsgpack-cxx-dev).")
  endif()
  file(GLOB hal_sources CONFIGURE_DEPENDS "${root}/hal/src/*.cpp")
  file(GLOB core_sources CONFIGURE_DEPENDS "${root}/plugins/sdk/*.cpp")
  # What of fmt is not in its headers is compiled too (hal/src/fmt.cpp).
  get_target_property(fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  add_library(halyard_hal STATIC EXCLUDE_FROM_ALL ${hal_sources})
  target_include_directories(halyard_hal PRIVATE "${root}/hal/src")
  target_compile_definitions(halyard_hal PRIVATE MSGPACK_NO_BOOST)
  target_link_libraries(halyard_hal PRIVATE PkgConfig::HALYARD_SDK_LIBRARIES)
  add_library(halyard_driver_core STATIC EXCLUDE_FROM_ALL ${core_sources})
  target_link_libraries(halyard_driver_core PUBLIC halyard_hal ${CMAKE_DL_LIBS})
  foreach(library halyard_hal halyard_driver_core)
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_include_directories(${library} PUBLIC ${include_directories})
    target_include_directories(${library} SYSTEM PUBLIC "${fmt_headers}")
    target_link_libraries(${library} PUBLIC Threads::Threads)
    set_target_properties(${library} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endforeach()
  add_library(halyard_driver_sdk INTERFACE)
  target_link_libraries(halyard_driver_sdk INTERFACE halyard_hal)
  add_library(Halyard::driver_sdk ALIAS halyard_driver_sdk)
  add_library(Halyard::driver_core ALIAS halyard_driver_core)
endfunction()

if(NOT TARGET halyard_plugin_sdk)
  add_library(halyard_plugin_sdk INTERFACE)
  set(HALYARD_SDK_FROM_SOURCE OFF CACHE BOOL "Compile Halyard's part of a driver here")
  set(libstdcxx FALSE)
  if(TARGET Halyard::halyard_static AND NOT HALYARD_SDK_FROM_SOURCE)
    _halyard_has_libstdcxx(libstdcxx)
  endif()
  if(libstdcxx)
    # Of its objects a driver links those of hal that it uses, and none of the registry's.
    add_library(Halyard::driver_sdk INTERFACE IMPORTED GLOBAL)
    # fmt's headers; the rest of it is in the library.
    get_target_property(fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(Halyard::driver_sdk INTERFACE "${fmt_headers}")
    target_link_libraries(Halyard::driver_sdk INTERFACE Halyard::halyard_static)
    add_library(Halyard::driver_core INTERFACE IMPORTED GLOBAL)
    target_link_libraries(Halyard::driver_core INTERFACE Halyard::driver_core_static Halyard::driver_sdk)
  else()
    _halyard_compile_sdk("${HALYARD_DRIVER_SDK_DIRECTORY}/..")
  endif()
endif()

function(halyard_add_driver)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_INSTALL" "NAME;OUTPUT_DIRECTORY" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "halyard_add_driver does not know: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "halyard_add_driver: NAME (${arg_NAME}) must be a lower-case letter and "
                        "then lower-case letters, digits and underscores.")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "halyard_add_driver: SOURCES of the driver ${arg_NAME} are missing.")
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY "${HALYARD_PLUGIN_OUTPUT_DIRECTORY}")
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()

  set(target halyard_driver_${arg_NAME})
  set(exports "${HALYARD_DRIVER_SDK_DIRECTORY}/plugin.map")
  add_library(${target} MODULE ${arg_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    SUFFIX .so
    NO_SONAME ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${arg_OUTPUT_DIRECTORY}"
    LINK_DEPENDS "${exports}")
  if(TARGET halyard_options)
    target_link_libraries(${target} PRIVATE halyard_options)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LIBS} Halyard::driver_sdk)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}" LINKER:--gc-sections)
  # With clang a sanitizer's runtime is in the program only, so a plugin has undefined symbols.
  if(NOT (HALYARD_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  if(NOT arg_NO_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION lib/halyard/plugins COMPONENT halyard)
  endif()
endfunction()
