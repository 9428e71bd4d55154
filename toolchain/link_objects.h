// The linker of AMDGPU object files, ld.lld.
#pragma once

#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/temporary_folder.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

struct LinkContext {
  const TargetId& target;
  const SearchContext& search;
  const TemporaryFolder& folder;
};

// The code object `output` of the objects. A failure's message says what the linker's means.
Status link_objects(const LinkContext& context, const std::vector<std::string>& objects,
                    const std::string& output);

}  // namespace halyard::toolchain
