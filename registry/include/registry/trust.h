// Who else decides what this process loads and reads: users that may write to a folder or a file.
#pragma once

#include <string>

namespace halyard {

// Whether the process runs with more rights than whoever started it (set-user-ID, set-group-ID,
// file capabilities; AT_SECURE of getauxval(3)). Then it takes nothing from the environment, and
// nothing from places that others may write to.
bool runs_privileged() noexcept;

struct WriteCheck {
  // For a privileged process: also count the group, and an owner who is neither root nor the user
  // that the process runs as. Otherwise a group counts unless it is the process's own or has the
  // number of the owner, which is how distributions number a user's own group.
  bool strict = false;
  // In a folder with the sticky bit others can add files, but not exchange one.
  bool counts_sticky = true;
};

// A clause that names who else may write to `path` and what stops that; empty if nobody may, or if
// the path cannot be looked at.
std::string who_else_may_write(const std::string& path, const WriteCheck& check = {});

}  // namespace halyard
