#include "registry/trust.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal/text.h"

namespace halyard {

bool runs_privileged() noexcept {
  return getauxval(AT_SECURE) != 0;
}

std::string who_else_may_write(const std::string& path, const WriteCheck& check) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return {};
  const unsigned mode = info.st_mode & 07777;
  if (!check.counts_sticky && (mode & S_ISVTX) != 0) return {};
  if ((mode & S_IWOTH) != 0) {
    return fmt::format(
        "every user of this machine can write to {} (mode {:04o}), and so choose the code that "
        "runs here; remove that permission with chmod o-w",
        printable(path), mode);
  }
  const bool own_group = info.st_gid == getegid() || info.st_gid == info.st_uid;
  if ((mode & S_IWGRP) != 0 && (check.strict || !own_group)) {
    return fmt::format(
        "the group {} can write to {} (mode {:04o}), and so choose the code that runs here; remove "
        "that permission with chmod g-w",
        info.st_gid, printable(path), mode);
  }
  if (check.strict && info.st_uid != 0 && info.st_uid != geteuid()) {
    return fmt::format(
        "{} belongs to the user {}, who can so choose the code that runs here; give it to root "
        "with chown",
        printable(path), info.st_uid);
  }
  return {};
}

}  // namespace halyard
