// The expectations of a driver, as data: cts/expectations/<driver>.yaml.
//
//     unsupported:              # permanent
//       "Suite.Test*": why no device of this driver supports it
//     xfail:                    # temporary
//       "Suite.Test": what has to be fixed
//     ends_process:             # permanent: a vendor's runtime calls abort()
//       "Suite.Test": who calls it, and why that cannot be prevented
//     skips:                    # on some machines or devices
//       "Suite.Test": which device or machine cannot run it
//
// A listed test still runs. If it ends the process, it runs in a child process
// (cts/harness/child.h), which must end by abort() after it has named the kernel. A listed test
// that passes is a failure, and so is a pattern that matches no test: obsolete entries must be
// removed. A test under `skips` may pass, and a test that skips itself fails if it is not listed
// there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::cts {

struct Excuse {
  enum class Kind : uint8_t { kUnsupported, kExpectedFailure, kEndsProcess, kSkips };

  std::string pattern;  // a glob over "Suite.Test"
  std::string reason;
  Kind kind = Kind::kExpectedFailure;
};

class Expectations {
 public:
  // INVALID_ARGUMENT names file, line and column of each mistake.
  static Result<Expectations> read_file(const std::string& path);
  static Result<Expectations> read_text(std::string_view text, const std::string& name);

  // Why a test need not pass, or null.
  const Excuse* find(std::string_view test) const;
  // Why a test may skip itself, or null.
  const Excuse* find_skip(std::string_view test) const;
  // The patterns that match none of `tests`.
  std::vector<std::string> stale(const std::vector<std::string>& tests) const;

  const std::vector<Excuse>& excuses() const { return excuses_; }

 private:
  const Excuse* find_if(std::string_view test, bool (*wanted)(Excuse::Kind)) const;

  std::vector<Excuse> excuses_;
};

}  // namespace halyard::cts
