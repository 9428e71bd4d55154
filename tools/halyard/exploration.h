// `halyard vgpu explore`: one program under many schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::cli {

// What the program did.
struct Observed {
  int exit_code = 0;
  int signal = 0;  // that has ended it; 0: none
  std::string output;
  std::vector<std::string> files = {};  // the contents of those that are compared
  // What the host has got of the GPUs' work: digests, sorted, by what has brought it.
  std::map<std::string, std::vector<std::string>> data = {};

  bool operator==(const Observed&) const = default;
};

// The schedule that all others are compared with: one wave after another.
inline constexpr const char* kFirstSchedule = "waves,serial";

// `count` schedules to try: those with a name first, then seeds from `seed` on.
std::vector<std::string> schedules_to_try(uint64_t count, uint64_t seed);

struct Exploration {
  Observed first;                          // under kFirstSchedule
  bool is_steady = true;                   // a second run under kFirstSchedule did the same
  Observed again;                          // if it did not
  std::vector<std::string> unsteady_data;  // is not compared: it differed between these two
  std::vector<std::string> tried;          // with the result of `first`
  std::vector<std::string> unsteady;       // with another result, which a second run did not have

  std::string different;  // the first schedule with another result; empty: none
  Observed other;         // its result
  // The order of so many instructions is enough, and one instruction less is not.
  std::optional<uint64_t> until;
};

// Of lines with what has brought data, a tab, and a digest.
std::map<std::string, std::vector<std::string>> parse_data(std::string_view lines);

// Runs the program under a schedule.
using RunProgram = std::function<Result<Observed>(const std::string& schedule)>;

// Runs it under the schedules until one gives another result, and then narrows that down.
Result<Exploration> explore(const std::vector<std::string>& schedules, const RunProgram& run);

// The first place where two results differ, in lines that begin with two spaces. `files`: the names
// of those that are compared.
std::string difference_text(const std::string& schedule, const Observed& first,
                            const Observed& other, const std::vector<std::string>& files);

// Words as a shell reads them.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace halyard::cli
