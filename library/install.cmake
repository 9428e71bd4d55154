# What `cmake --install` makes of the library and the driver SDK. Everything is relative to the prefix,
# so that the tree may be moved. The rest is installed by the folders that it belongs to.
#
# Components are Debian packages (cmake/HalyardPackages.cmake): halyard, libhalyard0, libhalyard-dev,
# halyard-vgpu, halyard-cts.

include(CMakePackageConfigHelpers)

set(headers "${CMAKE_INSTALL_INCLUDEDIR}/halyard")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/halyard")
set(sdk "${CMAKE_INSTALL_DATADIR}/halyard/sdk")

install(TARGETS halyard_shared EXPORT HalyardTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libhalyard0
          NAMELINK_COMPONENT libhalyard-dev)
install(TARGETS halyard_static halyard_driver_core EXPORT HalyardStaticTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libhalyard-dev)
install(EXPORT HalyardTargets NAMESPACE Halyard:: DESTINATION "${package}" COMPONENT libhalyard-dev)
install(EXPORT HalyardStaticTargets NAMESPACE Halyard:: DESTINATION "${package}"
        COMPONENT libhalyard-dev)

# #include "hal/device.h" and so on, below include/halyard; #include "halyard/halyard.h" below include.
file(GLOB contract_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/hal/contract/*.h"
     "${PROJECT_SOURCE_DIR}/hal/contract/*.inl")
install(FILES ${contract_headers} DESTINATION "${headers}/hal/contract" COMPONENT libhalyard-dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hal/include/hal"
                  "${PROJECT_SOURCE_DIR}/registry/include/registry"
        DESTINATION "${headers}" COMPONENT libhalyard-dev FILES_MATCHING PATTERN "*.h")
foreach(binding c cpp)
  if(EXISTS "${PROJECT_SOURCE_DIR}/bindings/${binding}/include/halyard")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/bindings/${binding}/include/halyard"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT libhalyard-dev
            FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  endif()
endforeach()
file(GLOB core_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plugins/sdk/*.h")
install(FILES ${core_headers} DESTINATION "${headers}/plugins/sdk" COMPONENT libhalyard-dev)
install(DIRECTORY "${HALYARD_FORMER_HEADERS}/" DESTINATION "${headers}" COMPONENT libhalyard-dev)

# The SDK: in the shape of a checkout, with the sources that a driver for another compiler or C++
# library compiles itself.
install(FILES "${PROJECT_SOURCE_DIR}/plugins/HalyardDriver.cmake" "${PROJECT_SOURCE_DIR}/plugins/plugin.map"
        DESTINATION "${sdk}/plugins" COMPONENT libhalyard-dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hal/src" DESTINATION "${sdk}/hal" COMPONENT libhalyard-dev
        FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h")
file(GLOB core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plugins/sdk/*.cpp")
install(FILES ${core_sources} DESTINATION "${sdk}/plugins/sdk" COMPONENT libhalyard-dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugins/skeleton" "${PROJECT_SOURCE_DIR}/plugins/host_memory" DESTINATION "${CMAKE_INSTALL_DATADIR}/halyard"
        COMPONENT libhalyard-dev)

# It knows the way from its folder to the prefix, whatever LIBDIR is.
configure_package_config_file(HalyardConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/HalyardConfig.cmake"
  INSTALL_DESTINATION "${package}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/HalyardConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/HalyardConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/HalyardConfigVersion.cmake"
        DESTINATION "${package}" COMPONENT libhalyard-dev)

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE up)
configure_file(halyard.pc.in "${CMAKE_CURRENT_BINARY_DIR}/halyard.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/halyard.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT libhalyard-dev)
