// What a process has asked to be watched, by environment variables that `halyard vgpu exec` sets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/isa/observer.h"
#include "vgpu/observe/counts.h"
#include "vgpu/observe/kernel_names.h"
#include "vgpu/observe/output_file.h"

namespace halyard::vgpu::observe {

struct Settings {
  std::string trace;     // HALYARD_VGPU_TRACE: a file; empty: none
  std::string counts;    // HALYARD_VGPU_COUNTS: a file; empty: none
  bool check = false;    // HALYARD_VGPU_CHECK is set and is not 0
  std::string findings;  // its value, if that is a path: what was found goes there as well

  static Settings from_environment();
};

class Observers {
 public:
  // `report` gets each finding of a check. Null, with a sentence that names the variable, if a file
  // cannot be written.
  static std::unique_ptr<Observers> create(const Settings& settings, const KernelNames& names,
                                           const std::function<void(std::string_view)>& report,
                                           std::string& error);

  std::vector<isa::Observer*> list() const;
  // Writes what is written once, at the process's end.
  void finish();

 private:
  Observers() = default;

  std::unique_ptr<OutputFile> counts_file_;
  std::unique_ptr<OutputFile> findings_file_;
  std::unique_ptr<Counts> counts_;
  std::vector<std::unique_ptr<isa::Observer>> others_;
};

}  // namespace halyard::vgpu::observe
