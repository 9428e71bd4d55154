// A GPU's compute units: which are where, and which a mask of them means.
//
// Units are counted as masks count them (amdkfd, mqd_symmetrically_map_cu_mask): the first unit of
// each shader engine, then the second one of each, and so on, as far as an engine has so many.
// Where a GPU has several XCDs, the first unit is that of the first XCD, the second one that of the
// second XCD, and so on, and each XCD's own units follow each other as above.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::machine {

// How many units each shader engine of an XCD has.
std::vector<uint32_t> units_of_engines(const GpuProfile& gpu);

// Of each unit the bits of HW_ID that say where it is: CU_ID at 8, SE_ID at 13 (hipamd's
// amd_device_functions.h: of two bits, and of three where an XCD has more than four engines).
std::vector<uint32_t> places_of_units(const GpuProfile& gpu);

// The units whose bit is set. Bits beyond the last unit mean nothing.
std::vector<uint32_t> units_in(const std::vector<uint32_t>& mask, uint32_t unit_count);

}  // namespace halyard::vgpu::machine
