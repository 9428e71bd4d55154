// Detects users that can write to the folders and files that this process loads and reads.
#pragma once

#include <string>

namespace halyard {

// Whether the process has more privileges than its caller (set-user-ID, set-group-ID, file
// capabilities; AT_SECURE of getauxval(3)). If so, it ignores the environment, and places that
// others can write to.
bool runs_privileged() noexcept;

struct WriteCheck {
  // For a privileged process: also count the group, and an owner other than root and the effective
  // user. Otherwise a group counts unless it is the process's own or has the number of the owner,
  // as a user's private group does in distributions.
  bool strict = false;
  // In a folder with the sticky bit, others can add files but not replace one.
  bool counts_sticky = true;
};

// A clause that names who else can write to `path`, and the remedy; empty if no one can, or if
// `path` cannot be read.
std::string who_else_may_write(const std::string& path, const WriteCheck& check = {});

}  // namespace halyard
