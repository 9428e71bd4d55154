# What ctest runs of the suite: its harness, its kernels, and the suite on each driver.

halyard_add_test(cts_harness_test SOURCES harness/tests/harness_test.cpp LIBS halyard_cts_harness
                 nlohmann_json::nlohmann_json pugixml::pugixml)

# The fat files are what modules.yaml says; and, where the compilers are, what the sources make, byte
# by byte: those in C, and with hipcc and the device libraries that it brings all of them.
find_package(yaml-cpp REQUIRED)
halyard_add_test(cts_kernels_test SOURCES harness/tests/kernels_test.cpp LIBS halyard_hal yaml-cpp)
target_compile_definitions(cts_kernels_test PRIVATE
  HALYARD_TEST_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/kernels")
find_program(HALYARD_CLANG_22 clang-22)
find_program(HALYARD_BUNDLER_22 clang-offload-bundler-22)
find_package(Python3 COMPONENTS Interpreter)
if(HALYARD_MAKES_ITS_BINARIES AND HALYARD_CLANG_22 AND HALYARD_BUNDLER_22 AND Python3_FOUND)
  find_program(HALYARD_HIPCC hipcc)
  set(languages "")
  if(NOT HALYARD_HIPCC)
    set(languages --language c)
  endif()
  add_test(NAME cts_kernels.are_as_their_sources_say
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/kernels/build.py"
                   --check ${languages})
  set_tests_properties(cts_kernels.are_as_their_sources_say PROPERTIES PROCESSORS 2
                       ENVIRONMENT "HALYARD=$<TARGET_FILE:halyard>")
endif()

# halyard_add_cts(NAME [FILTER gtest-filter] [ENVIRONMENT VAR=value…] ARGUMENTS flag…)
# Runs the suite, or the part of it that the filter takes, as ctest tests cts.NAME.<test>. ctest counts
# an excused test as skipped; one that skips itself without an excuse fails (harness/record.h).
function(halyard_add_cts name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILTER" "ENVIRONMENT;ARGUMENTS")
  set(properties TIMEOUT 300 LABELS cts SKIP_REGULAR_EXPRESSION "halyard-cts: SKIPPED ")
  if(arg_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  gtest_discover_tests(halyard-cts TEST_PREFIX "cts.${name}." TEST_LIST "cts_${name}"
                       TEST_FILTER "${arg_FILTER}" EXTRA_ARGS ${arg_ARGUMENTS}
                       DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
endfunction()

# halyard_add_cts_run(NAME [FILTER gtest-filter | WHOLE] [NO_SKIPS] [ENVIRONMENT VAR=value…] ARGUMENTS flag…)
# Runs the suite, or a part of it, in one process, as the ctest test cts.NAME. Its report says how each test
# ended (scripts/count-tests). Of a WHOLE run only what fails is printed: logs are cut off. It starts before
# the short ones, so that no core is idle at the end.
function(halyard_add_cts_run name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE;NO_SKIPS" "FILTER" "ENVIRONMENT;ARGUMENTS")
  set(reports "${PROJECT_BINARY_DIR}/suite-reports")
  file(MAKE_DIRECTORY "${reports}")
  set(flags "--junit=${reports}/cts.${name}.xml")
  set(properties TIMEOUT 300 LABELS cts)
  if(arg_WHOLE)
    list(APPEND flags --gtest_brief=1)
    set(properties TIMEOUT 600 LABELS cts COST 100)
  endif()
  if(arg_FILTER)
    list(APPEND flags "--filter=${arg_FILTER}")
  endif()
  if(arg_NO_SKIPS)
    list(APPEND properties FAIL_REGULAR_EXPRESSION SKIPPED)
  endif()
  if(arg_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  add_test(NAME cts.${name} COMMAND halyard-cts ${arg_ARGUMENTS} ${flags})
  set_tests_properties(cts.${name} PROPERTIES ${properties})
endfunction()

# Results that are lost on a full disk are no success.
add_test(NAME cts.results_on_a_full_disk
         COMMAND sh -c [["$1" --list >/dev/full; test $? -eq 2]] sh "$<TARGET_FILE:halyard-cts>")

# What needs no GPU, on the driver that has none; it is excused from the rest.
halyard_add_cts_run(host_memory WHOLE ARGUMENTS --device=host_memory)
if(HALYARD_VGPU)
  halyard_add_cts(amdgpu ARGUMENTS --device=amdgpu --vgpu=gfx900)
  # A second opinion: on the same runtime, one packet at a time.
  set(plugin "${PROJECT_BINARY_DIR}/plugins/skeleton/libhalyard_driver_skeleton.so")
  halyard_add_cts_run(skeleton WHOLE ARGUMENTS "--plugin=${plugin}" --device=skeleton --vgpu=gfx900)
  # Without copy engines, the runtime copies with its own kernels.
  halyard_add_cts(amdgpu_without_sdma FILTER "*Transfer*:*Copy*:*Fill*:Memory.*"
                  ENVIRONMENT HSA_ENABLE_SDMA=0 ARGUMENTS --device=amdgpu --vgpu=gfx900)
  halyard_add_cts(hip ARGUMENTS --device=hip --vgpu=gfx900)
  foreach(driver IN ITEMS amdgpu hip)
    # Without interrupts, the runtime reports no memory faults.
    halyard_add_cts(${driver}_without_interrupts FILTER "*MemoryFault.*"
                    ENVIRONMENT HSA_ENABLE_INTERRUPT=0 ARGUMENTS --device=${driver} --vgpu=gfx900)
    # Memory of the device that the host maps: only in a hive has ROCR fine-grained VRAM by itself, and
    # there the host may have none of it (docs/amdgpu-driver.md).
    halyard_add_cts_run(${driver}.mapped_memory NO_SKIPS
      FILTER "Coherence.*MappedDeviceMemory:Memory.*:Facts.AHeapForMapped*"
      ENVIRONMENT HSA_FORCE_FINE_GRAIN_PCIE=1 ARGUMENTS --device=${driver} --vgpu=gfx90a)
    # Registers with ECC: loads into half of one clear the other half.
    foreach(profile IN ITEMS gfx906 mi50 gfx908 gfx90a)
      halyard_add_cts_run(${driver}.half_loads.${profile} NO_SKIPS FILTER Arithmetic.HalfLoads
                          ARGUMENTS --device=${driver} --vgpu=${profile})
    endforeach()
    # With XNACK the runtimes take any memory of the process for the GPU's (HIP 5.2.3's pointers do).
    halyard_add_cts_run(${driver}.xnack FILTER "Import*:Export*:Managed*"
                        ENVIRONMENT HSA_XNACK=1 ARGUMENTS --device=${driver} --vgpu=gfx90a)
    # Two GPUs linked by xGMI, four behind PCIe, and two without a link.
    foreach(profile IN ITEMS two-gfx90a mixed "${PROJECT_SOURCE_DIR}/vgpu/hip_tests/unlinked.yaml")
      get_filename_component(name "${profile}" NAME_WE)
      halyard_add_cts_run(${driver}.peers_on_${name} FILTER "TwoDevices.*:Peer.*"
                          ARGUMENTS --device=${driver}:0 --vgpu=${profile})
    endforeach()
    # What is about several GPUs, without a link between them and in another order, in which the first GPU is
    # not the vendor's first.
    foreach(run IN ITEMS "without_a_link ${PROJECT_SOURCE_DIR}/vgpu/hip_tests/unlinked.yaml 0,1"
                         "in_another_order mixed 3,0")
      string(REPLACE " " ";" words "${run}")
      list(POP_FRONT words name profile selectors)
      halyard_add_cts_run(${driver}.logical_${name}
        FILTER "Logical.*:SeveralGpus.*:LinkedGpus.*:TwoDevices.*:Peer.*:*Import*.*"
        ARGUMENTS --device=${driver}://${selectors} --vgpu=${profile})
    endforeach()
  endforeach()
  # Logical devices of two and four GPUs, alike and mixed: all of the suite. With amdgpu on four mixed
  # ones it runs under the checks below; hip on two and on mixed ones is left to ./check --all.
  foreach(run IN ITEMS "amdgpu two two-gfx90a 0,1" "amdgpu four four-mi210 0,1,2,3" "amdgpu two_mixed mixed 0,3"
                       "hip four four-mi210 0,1,2,3")
    string(REPLACE " " ";" words "${run}")
    list(POP_FRONT words driver name profile selectors)
    halyard_add_cts_run(${driver}.logical_of_${name} WHOLE
                        ARGUMENTS --device=${driver}://${selectors} --vgpu=${profile})
  endforeach()
  # What a run was worth: one report by the suite's own option and by what runs it.
  if(Python3_FOUND AND TARGET halyard)
    add_test(NAME cts.fidelity COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/fidelity_test.py"
             "$<TARGET_FILE:halyard-cts>" "$<TARGET_FILE:halyard>")
    set_tests_properties(cts.fidelity PROPERTIES TIMEOUT 120 LABELS cts)
  endif()
  # Under the checks that see what only hardware would punish (docs/virtual-gpu.md): each finding fails
  # its test.
  foreach(run IN ITEMS amdgpu.gfx900 amdgpu.gfx90a amdgpu.mixed hip.gfx900)
    string(REPLACE "." ";" words ${run})
    list(POP_FRONT words driver profile)
    halyard_add_cts_run(${driver}.checked_on_${profile} WHOLE
                        ARGUMENTS --device=${driver} --vgpu=${profile} --check=coherence,races,waits,lds)
  endforeach()
  # The other processors, which take other variants of the kernels: a run each, of everything. The runs of
  # hip on gfx906 and gfx908 are left to ./check --all.
  foreach(run IN ITEMS amdgpu.gfx906 amdgpu.gfx908 amdgpu.gfx90a hip.gfx90a)
    string(REPLACE "." ";" words ${run})
    list(POP_FRONT words driver profile)
    halyard_add_cts_run(${driver}.on_${profile} WHOLE ARGUMENTS --device=${driver} --vgpu=${profile})
  endforeach()
endif()

add_subdirectory(faulty)
