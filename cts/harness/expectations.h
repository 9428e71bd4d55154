// What a driver is excused from, as data: cts/expectations/<driver>.yaml.
//
//     unsupported:              # for good
//       "Suite.Test*": why no device of this driver can do it
//     xfail:                    # for now
//       "Suite.Test": what has to be mended
//     ends_process:             # for good: a vendor's runtime calls abort()
//       "Suite.Test": who calls it, and why it cannot be kept from that
//     skips:                    # on some machines or devices
//       "Suite.Test": which device or machine cannot run it
//
// An excused test runs all the same; where it ends the process, in a process of its own
// (cts/harness/child.h), which has to be ended by abort() after it has named the kernel. That an
// excused test passes is a failure, and so is a pattern that matches no test: an excuse that is not
// needed any more has to go. A test under `skips` may pass, and a test that skips itself fails if
// it is not there.
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
