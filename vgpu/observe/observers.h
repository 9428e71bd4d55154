// What a process has asked to be watched, by environment variables that `halyard vgpu exec` sets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/isa/observer.h"
#include "vgpu/observe/atomic_check.h"
#include "vgpu/observe/counts.h"
#include "vgpu/observe/fidelity.h"
#include "vgpu/observe/kernel_names.h"
#include "vgpu/observe/output_file.h"

namespace halyard::vgpu::observe {

// The checks that HALYARD_VGPU_CHECK turns on; HALYARD_VGPU_CHECKS chooses some of them.
struct Checks {
  bool bounds = false;     // accesses outside of allocations
  bool lds = false;        // LDS that is uninitialised, outside, or raced for
  bool waits = false;      // registers and LDS used before the s_waitcnt that they need
  bool atomics = false;    // float atomics that memory does not carry out
  bool coherence = false;  // memory that caches may hold otherwise (vgpu/coherence)
  bool races = false;      // memory that waves use with no order (vgpu/races)
  // What the checks know to be harmless, or the vendor's runtime's own, is reported as well.
  bool notes = false;

  // From a list of names, "coherence,lds" or "lds,notes". All checks for "all", an empty list, and
  // "notes" alone. False if one is no check, with a sentence.
  static bool parse(std::string_view list, Checks& checks, std::string& error);
};

struct Settings {
  std::string trace;     // HALYARD_VGPU_TRACE: a file; empty: none
  std::string counts;    // HALYARD_VGPU_COUNTS: a file; empty: none
  std::string fidelity;  // HALYARD_VGPU_FIDELITY: a file, in JSON if its name ends in ".json"
  Checks checks;         // if HALYARD_VGPU_CHECK is set and is not 0
  std::string findings;  // its value, if that is a path: what was found goes there as well
  // HALYARD_VGPU_LOST: a file of at least one byte, which becomes '1' when one of the others cannot
  // be written. No new byte is needed for that, so a full disk does not matter.
  std::string lost;

  // False, with a sentence that names the variable, if one has a value that means nothing.
  static bool from_environment(Settings& settings, std::string& error);
};

// Whether the files can be written; if not, a sentence that names the variable.
bool check_settings(const Settings& settings, std::string& error);

class Observers {
 public:
  // `report` gets each finding of a check. Null, with a sentence that names the variable, if a file
  // cannot be written.
  static std::unique_ptr<Observers> create(const Settings& settings, const KernelNames& names,
                                           const std::function<void(std::string_view)>& report,
                                           std::string& error);

  std::vector<isa::Observer*> list() const;
  // Null without that check.
  AtomicCheck* atomics() const { return atomics_.get(); }
  // Reports a finding of a check. Any thread.
  void report(std::string_view text) const;
  // Writes the reports of the process's end.
  void finish();

 private:
  Observers() = default;

  std::function<void(std::string_view)> report_;
  std::unique_ptr<OutputFile> counts_file_;
  std::unique_ptr<OutputFile> fidelity_file_;
  std::unique_ptr<OutputFile> findings_file_;
  std::unique_ptr<Counts> counts_;
  std::unique_ptr<FidelityCounter> fidelity_;
  std::unique_ptr<AtomicCheck> atomics_;
  std::vector<std::unique_ptr<isa::Observer>> others_;
};

}  // namespace halyard::vgpu::observe
