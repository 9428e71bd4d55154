# Names of targets, as the map in config/targets.yaml has them, for lists that users write:
# HALYARD_DEVICE_TARGETS and the like.

include("${CMAKE_CURRENT_LIST_DIR}/HalyardTargets.cmake")

# halyard_expand_targets(OUT name…)
# Sets OUT to the target IDs that the names stand for, each once, in their order. A name is a
# processor, a generic target, a product, a code name or a family, and may have features behind it:
# "cdna3;gfx9-generic;gfx90a:xnack+" gives "gfx942;gfx9-generic;gfx90a:xnack+". What is unknown ends
# the configuration.
function(halyard_expand_targets out)
  set(targets "")
  foreach(name IN LISTS ARGN)
    string(FIND "${name}:" ":" colon)
    string(SUBSTRING "${name}" 0 ${colon} base)
    string(SUBSTRING "${name}" ${colon} -1 features)
    if(base IN_LIST HALYARD_PROCESSORS OR base IN_LIST HALYARD_GENERICS)
      set(processors "${base}")
    elseif(base IN_LIST HALYARD_ARCHITECTURES)
      set(processors ${HALYARD_ARCHITECTURE_${base}})
    elseif(base IN_LIST HALYARD_FAMILIES)
      set(processors ${HALYARD_FAMILY_${base}})
    elseif(base IN_LIST HALYARD_PRODUCTS)
      set(processors "${HALYARD_PRODUCT_${base}}")
    else()
      message(FATAL_ERROR
        "The target map (config/targets.yaml) has nothing named (${base}). docs/targets.md lists its "
        "processors (gfx942), generic targets (gfx9-4-generic), products (mi300x), code names (cdna3) "
        "and families (gfx94X-dcgpu).")
    endif()
    foreach(processor IN LISTS processors)
      _halyard_canonical_features(canonical "${processor}" "${features}")
      list(APPEND targets "${processor}${canonical}")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES targets)
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# The features behind a name (":xnack-:sramecc+"), checked, as a canonical target ID has them.
function(_halyard_canonical_features out processor features)
  set(${out} "" PARENT_SCOPE)
  if(features STREQUAL "")
    return()
  endif()
  set(legal "${HALYARD_FEATURES_OF_${processor}}")
  list(JOIN legal ", " legal_text)
  if(NOT legal)
    set(legal_text "none")
  endif()
  set(refusal "A target ID for ${processor} cannot say (${features}). Its features, each at most once "
              "and with + or - behind it: ${legal_text}.")
  if(NOT features MATCHES "^(:[a-z]+[+-])+$")
    message(FATAL_ERROR ${refusal})
  endif()
  string(SUBSTRING "${features}" 1 -1 settings)
  string(REPLACE ":" ";" settings "${settings}")
  set(seen "")
  foreach(setting IN LISTS settings)
    string(REGEX REPLACE "[+-]$" "" feature "${setting}")
    if(NOT feature IN_LIST legal OR feature IN_LIST seen)
      message(FATAL_ERROR ${refusal})
    endif()
    list(APPEND seen "${feature}")
  endforeach()
  list(SORT settings)
  list(JOIN settings ":" settings)
  set(${out} ":${settings}" PARENT_SCOPE)
endfunction()
