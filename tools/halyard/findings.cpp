#include "tools/halyard/findings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "hal/error.h"
#include "hal/text.h"
#include "registry/vgpu.h"

namespace halyard::cli {

void add_check_flag(Command command, std::string& checks, const std::string& when) {
  // A flag that may have a value: the next word is never it.
  command.add_flag(
      "--check{all}", checks,
      when +
          " find mistakes that hardware does not report (exit code 1): accesses outside the "
          "program's allocations (bounds; a memory fault); uninitialized, out-of-range and racing "
          "accesses to LDS (lds); a missing s_waitcnt (waits); float atomics that memory drops "
          "(atomics); missing cache fences (coherence); races of waves in global memory (races). "
          "--check=lds,waits selects some; \"notes\" among the names adds what is harmless or the "
          "vendor runtime's own");
}

void add_fidelity_option(Command command, std::string& path, const std::string& when) {
  command
      .add_option("--fidelity", path,
                  when +
                      "rite to this file which instructions were executed and how often, and which "
                      "of them are exact, differ from hardware's by a known bound at most, or were "
                      "not verified against hardware. JSON, if its name ends in .json")
      ->type_name("FILE");
}

Status start_report(const char* option, const char* variable, const std::string& path) {
  if (path.empty()) return {};
  errno = 0;
  const std::ofstream file(path, std::ios::trunc);
  if (!file) {
    return error(StatusCode::kInvalidArgument, "The file ({}) of {} cannot be written: {}.",
                 printable(path), option, std::strerror(errno));
  }
  setenv(variable, std::filesystem::absolute(path).c_str(), 1);
  return {};
}

size_t count_findings(const std::string& path) {
  std::ifstream file(path);
  size_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.starts_with(kFindingMark) ? 1 : 0;
  return count;
}

Status Findings::begin(const std::string& checks) {
  if (checks.empty()) return {};
  if (!virtual_gpu_loaded()) {
    return Status(StatusCode::kFailedPrecondition,
                  "--check needs the virtual GPU, which looks at what a GPU does not report. Say "
                  "--vgpu.");
  }
  HALYARD_RETURN_IF_ERROR(file_.create(""));
  return check_with_virtual_gpu(checks, file_.path());
}

Status Findings::result() const {
  const size_t count = file_.path().empty() ? 0 : count_findings(file_.path());
  if (count == 0) return {};
  return error(StatusCode::kFailedPrecondition,
               "The run succeeded, but the check found {} mistake{}; see the reports above.", count,
               count == 1 ? "" : "s");
}

}  // namespace halyard::cli
