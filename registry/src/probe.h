// Tries plugins in child processes (Registry::probe).
#pragma once

#include <chrono>
#include <vector>

#include "registry/load_report.h"
#include "registry/loader.h"

namespace halyard {

// Loads the candidates, none of which has been tried, in child processes, and records the outcome
// of each, also of those that ended their process or did not return in time. Fails only if the
// system cannot create a process or pipe.
Status probe_candidates(std::vector<Candidate>& candidates, const DriverSettings& settings,
                        std::chrono::milliseconds timeout);

}  // namespace halyard
