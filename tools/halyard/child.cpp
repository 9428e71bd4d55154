#include "tools/halyard/child.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "hal/base/process.h"
#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "toolchain/temporary_folder.h"

namespace halyard::cli {
namespace {

Status cannot_run(const std::string& program, int reason) {
  return error(StatusCode::kNotFound, "The program ({}) cannot be run: {}.", printable(program),
               std::strerror(reason));
}

}  // namespace

Status replace_by(std::vector<std::string>& words) {
  execvp(words[0].c_str(), base::pointers_to(words).data());
  return cannot_run(words[0], errno);
}

void end_as(const toolchain::ProcessEnd& end) {
  if (end.signal != 0) toolchain::end_by_signal(end.signal);
  std::exit(end.exit_code);
}

Status TemporaryFile::create(std::string_view contents) {
  HALYARD_ASSIGN_OR_RETURN(const std::string folder, toolchain::temporary_base());
  path_ = folder + "/halyard-XXXXXX";
  const int file = mkstemp(path_.data());
  if (file < 0) {
    const std::string path = std::move(path_);
    path_.clear();
    return error(
        status_code_of_errno(errno),
        "The temporary file ({}) cannot be made: {}. Set TMPDIR to a folder that this user "
        "can write to.",
        printable(path), std::strerror(errno));
  }
  errno = 0;
  const ssize_t written = ::write(file, contents.data(), contents.size());
  const int why = errno;
  close(file);
  if (written == static_cast<ssize_t>(contents.size())) return {};
  return error(status_code_of_errno(why), "The temporary file ({}) cannot be written: {}.", path_,
               std::strerror(why));
}

void TemporaryFile::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace halyard::cli
