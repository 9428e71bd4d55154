// The variants of a module that a command selects.
#pragma once

#include <string>
#include <vector>

#include "hal/module.h"
#include "hal/status.h"

namespace halyard::cli {

// Those for `target`, in the module's order: "gfx90a:xnack-" means just that, "gfx90a" code for any
// setting of its features too, and an empty one all of them. Also those that cannot be loaded
// anywhere. A product, code name or family ("mi300x") means the targets that it stands for.
// NOT_FOUND lists the targets that `file`, the module's, has code for, or says that there is no
// such target.
Result<std::vector<const ModuleVariant*>> variants_for(const Module& module,
                                                       const std::string& file,
                                                       const std::string& target);

// Where a message finds the variant: "(fat.hipfb, entry \"…\")".
std::string place_of(const std::string& file, const ModuleVariant& variant);

}  // namespace halyard::cli
