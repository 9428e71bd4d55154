# halyard_add_driver(NAME name SOURCES file… [LIBS target…] [OUTPUT_DIRECTORY folder] [NO_INSTALL])
#
# Builds libhalyard_driver_<name>.so, a Halyard driver plugin: a target halyard_driver_<name> that
# exports the one symbol `halyard_plugin`, has no undefined symbols, and is installed to
# lib/halyard/plugins. NAME is the name in --device=NAME, and must be the one that HALYARD_PLUGIN
# says: the registry refuses a file whose name promises another driver.
#
# Inside Halyard's build, plugins/CMakeLists.txt includes this file. Elsewhere, include it by its
# path, from a checkout (halyard/plugins/HalyardDriver.cmake) or from an installed Halyard
# (lib/cmake/halyard/HalyardDriver.cmake); it then builds or finds the driver's side of the
# interface (target halyard_hal) itself. The compiler and the C++ standard library need not be the
# ones that the host program was built with.

include_guard(GLOBAL)

get_filename_component(HALYARD_DRIVER_SDK_DIRECTORY "${CMAKE_CURRENT_LIST_FILE}" DIRECTORY)
set(HALYARD_DRIVER_SDK_DIRECTORY "${HALYARD_DRIVER_SDK_DIRECTORY}" CACHE INTERNAL "")

if(NOT TARGET halyard_plugin_sdk)
  find_package(Threads REQUIRED)
  find_package(fmt REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(HALYARD_LIBELF REQUIRED IMPORTED_TARGET libelf)
  set(root "${HALYARD_DRIVER_SDK_DIRECTORY}/..")
  if(EXISTS "${root}/hal/CMakeLists.txt")
    # A checkout: hal's sources are compiled here, with this project's compiler and flags.
    file(GLOB_RECURSE halyard_hal_sources CONFIGURE_DEPENDS "${root}/hal/src/*.cpp")
    set(halyard_include_directories "${root}/hal/include" "${root}/plugins/include")
  elseif(EXISTS "${HALYARD_DRIVER_SDK_DIRECTORY}/src/hal")
    # An installed Halyard brings the same sources, because a library would be tied to one compiler.
    file(GLOB_RECURSE halyard_hal_sources CONFIGURE_DEPENDS
         "${HALYARD_DRIVER_SDK_DIRECTORY}/src/hal/*.cpp")
    set(halyard_include_directories "${root}/../../include/halyard")
  else()
    message(FATAL_ERROR "HalyardDriver.cmake finds neither ${root}/hal (a checkout) nor "
                        "${HALYARD_DRIVER_SDK_DIRECTORY}/src/hal (an installed Halyard).")
  endif()
  add_library(halyard_hal STATIC EXCLUDE_FROM_ALL ${halyard_hal_sources})
  target_compile_features(halyard_hal PUBLIC cxx_std_20)
  target_compile_definitions(halyard_hal PRIVATE MSGPACK_NO_BOOST)
  set_target_properties(halyard_hal PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(halyard_hal PUBLIC ${halyard_include_directories})
  target_link_libraries(halyard_hal
    PUBLIC fmt::fmt-header-only Threads::Threads PRIVATE PkgConfig::HALYARD_LIBELF)
  # hal's private headers are included relative to its source folder.
  foreach(source IN LISTS halyard_hal_sources)
    if(source MATCHES "/status\\.cpp$")
      get_filename_component(halyard_hal_source_directory "${source}" DIRECTORY)
    endif()
  endforeach()
  target_include_directories(halyard_hal PRIVATE "${halyard_hal_source_directory}")
  add_library(halyard_plugin_sdk INTERFACE)
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
  target_link_libraries(${target} PRIVATE halyard_plugin_sdk halyard_hal ${arg_LIBS})
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}" LINKER:--gc-sections)
  # With clang a sanitizer's runtime is in the program only, so a plugin has undefined symbols.
  if(NOT (HALYARD_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  if(NOT arg_NO_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION lib/halyard/plugins COMPONENT halyard_plugins)
  endif()
endfunction()
