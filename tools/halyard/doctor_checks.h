// The checks of `halyard doctor` that need no driver, and the form of its
// findings.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "registry/load_report.h"
#include "tools/halyard/table.h"

namespace halyard::cli {

struct Finding {
  // kNote: can be intended, but explains a missing GPU.
  enum class State { kOk, kNote, kWrong };

  std::string check;  // what was looked at: "/dev/kfd", "driver hip", "amdgpu:0"
  State state = State::kOk;
  std::string text;      // a sentence
  std::string fix;       // a command for a shell; empty if there is none, or nothing is wrong
  std::string see = {};  // the entry that explains it; empty: that of its text, if not OK
};
const char* to_string(Finding::State state) noexcept;  // "OK", "note", "WRONG"

// Whose permissions count, and where the machine's files are.
struct MachineView {
  std::string root;  // before every path; empty: this machine
  uid_t user = 0;
  std::string user_name;
  std::vector<gid_t> groups;
  std::map<std::string, std::string> environment;

  static MachineView of_process();
};

// The kernel's driver, its device file /dev/kfd, and the render nodes.
std::vector<Finding> check_kernel_driver(const MachineView& machine);

// Variables that hide GPUs or change what they are.
Finding check_environment(const MachineView& machine);

// What became of the plugins. `has_virtual_gpu`: the virtual GPU is in this process.
std::vector<Finding> check_plugins(const LoadReport& report, const MachineView& machine,
                                   bool has_virtual_gpu);

// Where a reader finds an entry of the documents ("docs/errors/doctor.md#variables-hide-gpus"): in
// the first of `prefixes` that has the documents installed, or as it is, in the source tree.
std::string installed_entry(const std::string& entry, const std::vector<std::string>& prefixes);

// "see" names the entries as installed_entry() does for this program's prefixes.
std::string to_text(const std::vector<Finding>& findings, bool in_colour = false);
Json to_json(const std::vector<Finding>& findings);

}  // namespace halyard::cli
