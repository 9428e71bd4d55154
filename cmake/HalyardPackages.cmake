# Debian packages, by CPack (scripts/package). The components of the install rules are the packages:
#
#   halyard          the program, the drivers, configs, the library for MLIR
#   libhalyard0      libhalyard.so.0
#   libhalyard-dev   headers, static libraries, the CMake package, halyard.pc, the driver SDK
#   halyard-vgpu     the virtual GPU and its profiles
#   halyard-cts      the conformance suite with its kernels
#   python3-halyard  the Python package, for Debian's python3

if(NOT HALYARD_PYTHON)
  message(FATAL_ERROR "The packages want the Python package, which takes python3-dev and pybind11-dev.")
endif()
set(packages halyard libhalyard0 libhalyard-dev halyard-vgpu halyard-cts python3-halyard)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME halyard)
set(CPACK_PACKAGE_VENDOR Halyard)
# With any other summary CPack would put that in front of each package's own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_PACKAGE_CONTACT "The Halyard authors <maintainers@halyard.invalid>")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${packages})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The module of Python links libhalyard.so, which no package on this machine has.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# halyard_package(NAME SECTION section DESCRIPTION text [DEPENDS text] [RECOMMENDS text]
# [SUGGESTS text]): the first
# line of the description is the synopsis.
function(halyard_package name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SECTION;DESCRIPTION;DEPENDS;RECOMMENDS;SUGGESTS" "")
  string(TOUPPER "${name}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${arg_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${arg_DESCRIPTION}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${arg_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${arg_RECOMMENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${arg_SUGGESTS}" PARENT_SCOPE)
  # The files that Debian requires in each package.
  set(folder "${CMAKE_INSTALL_DATADIR}/doc/${name}")
  install(FILES "${PROJECT_SOURCE_DIR}/library/debian/copyright" DESTINATION "${folder}" COMPONENT ${name})
  install(CODE "
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND gzip -9nc \"${PROJECT_SOURCE_DIR}/library/debian/changelog\"
                    OUTPUT_FILE \"\${folder}/changelog.Debian.gz\" COMMAND_ERROR_IS_FATAL ANY)
    set(overrides \"\")
    foreach(file lintian-overrides ${name}.lintian-overrides)
      if(EXISTS \"${PROJECT_SOURCE_DIR}/library/debian/\${file}\")
        file(READ \"${PROJECT_SOURCE_DIR}/library/debian/\${file}\" text)
        string(APPEND overrides \"\${text}\")
      endif()
    endforeach()
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/lintian/overrides\")
    file(WRITE \"\${folder}/${name}\" \"\${overrides}\")" COMPONENT ${name})
endfunction()

# The drivers open the vendor's runtimes when they are used, so no dependency says what they need.
set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
halyard_package(halyard SECTION utils
  RECOMMENDS "libhsa-runtime64-1, libamdhip64-5, halyard-vgpu"
  DESCRIPTION "program and drivers of a hardware abstraction layer for AMD GPUs
Halyard runs compiled kernels on AMD GPUs through drivers that are plugins:
amdgpu, on the HSA runtime, and hip, on the HIP runtime. With the virtual GPU
of halyard-vgpu the same kernels run on a machine that has no GPU.

This package has the program halyard, both drivers, descriptions of devices,
and the library that programs of MLIR's GPU dialect run on.")
halyard_package(libhalyard0 SECTION libs
  RECOMMENDS "halyard"
  DESCRIPTION "hardware abstraction layer for AMD GPUs - shared library
Halyard runs compiled kernels on AMD GPUs through drivers that are plugins.

This package has the library that programs link.")
halyard_package(libhalyard-dev SECTION libdevel
  DEPENDS "libhalyard0 (= ${version}), libelf-dev, zlib1g-dev, libzstd-dev, libmd-dev, libfmt-dev"
  SUGGESTS "libmsgpack-cxx-dev"
  RECOMMENDS "pkgconf, cmake"
  DESCRIPTION "hardware abstraction layer for AMD GPUs - development files
Halyard runs compiled kernels on AMD GPUs through drivers that are plugins.

This package has the headers, the static library, the CMake package and the
SDK for drivers, with a driver to clone.")
halyard_package(halyard-vgpu SECTION utils
  RECOMMENDS "halyard"
  DESCRIPTION "virtual AMD GPU, which executes AMDGCN machine code on the CPU
Halyard runs compiled kernels on AMD GPUs through drivers that are plugins.

This package has the virtual GPU: AMD's unmodified HSA and HIP runtimes take
it for a GPU, so that their programs run on a machine that has none.")
halyard_package(halyard-cts SECTION utils
  RECOMMENDS "halyard, halyard-vgpu"
  DESCRIPTION "conformance suite for drivers of Halyard
Halyard runs compiled kernels on AMD GPUs through drivers that are plugins.

This package has the suite that each driver is held to, with its kernels for
all generations of GPUs.")
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)$" matched "${HALYARD_PYTHON}")
math(EXPR next "${CMAKE_MATCH_2} + 1")
halyard_package(python3-halyard SECTION python
  DEPENDS "libhalyard0 (>= ${PROJECT_VERSION}), python3 (>= ${HALYARD_PYTHON}~), python3 (<< ${CMAKE_MATCH_1}.${next}), python3-numpy"
  RECOMMENDS "halyard"
  SUGGESTS "halyard-vgpu, python3-matplotlib"
  DESCRIPTION "hardware abstraction layer for AMD GPUs - Python package
Halyard runs compiled kernels on AMD GPUs through drivers that are plugins.

This package has the Python package halyard: devices, kernels that are called
like functions, and arrays that share memory with NumPy and DLPack.")
set(CPACK_DEBIAN_PYTHON3-HALYARD_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/library/debian/python3-halyard/postinst"
  "${PROJECT_SOURCE_DIR}/library/debian/python3-halyard/prerm")

# Debian's libhalyard.so is where the loader looks. The build's file keeps its run path, so that `cmake --install`
# works before and after.
install(CODE "
  file(GLOB modules \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${HALYARD_PYTHON_INSTALL_DIR}/halyard/_core*.so\")
  foreach(module IN LISTS modules)
    file(RPATH_REMOVE FILE \"\${module}\")
  endforeach()" COMPONENT python3-halyard)

# Man pages are compressed.
install(CODE "
  file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/man/man1/*.1\")
  if(pages)
    execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()" COMPONENT halyard)

include(CPack)
