// The project's goals for the cost of submissions, compared with the measurements.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/measure.h"

namespace halyard::bench {

// A line for each comparison of which both sides have been measured.
std::string compare_with_goals(const std::vector<Measurement>& measurements);

}  // namespace halyard::bench
