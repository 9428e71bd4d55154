// A picture of results: bars on a logarithmic axis, with the spread.
#pragma once

#include <string>

#include "tools/bench/results.h"

namespace halyard::bench {

// An SVG 1.1 document of the table's rows. Needs at least one that was measured.
std::string to_svg(const Results& results);

}  // namespace halyard::bench
