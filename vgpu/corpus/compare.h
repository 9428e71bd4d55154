// Whether two outputs agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/corpus/case.h"

namespace halyard::vgpu::corpus {

// Empty, or the first words that do not agree, and how many there are.
std::string differences(const std::vector<uint32_t>& expected, const uint32_t* actual,
                        CorpusCompare compare, uint32_t ulps);

}  // namespace halyard::vgpu::corpus
