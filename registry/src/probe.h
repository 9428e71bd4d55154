// Tries plugins in processes of their own (Registry::probe).
#pragma once

#include <chrono>
#include <vector>

#include "registry/load_report.h"
#include "registry/loader.h"

namespace halyard {

// Loads the candidates, none of which has been tried, in children of this process, and writes down
// what became of each, also of those that have ended their process or not returned in time. Fails
// only if the system gives no process or pipe.
Status probe_candidates(std::vector<Candidate>& candidates, const DriverSettings& settings,
                        std::chrono::milliseconds timeout);

}  // namespace halyard
