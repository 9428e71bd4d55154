// The measurements and their subject, as JSON, and compared with another run's.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "tools/bench/measure.h"

namespace halyard::bench {

struct Column {
  std::string name;     // Loop::column
  std::string device;   // the URI that was opened; empty: a vendor's API
  std::string library;  // the vendor library's path
  std::string absent;   // why nothing was measured, or nothing
};

struct Results {
  std::string version;  // Halyard's
  std::string gpu_name, gpu_uuid, gpu_target;
  bool executes = true;  // false: a profile that only completes packets
  uint32_t repetitions = 0;
  std::vector<Column> columns;
  std::vector<Measurement> measurements;
};

nlohmann::ordered_json to_json(const Results& results);
// INVALID_ARGUMENT for text that is not what to_json makes; the caller knows the file.
Result<Results> parse_results(std::string_view text);

struct Change {
  std::string name, row, column;
  double before = 0, after = 0;  // medians, ns
  // Whether the middle halves of the repetitions do not overlap.
  bool is_clear = false;
  double ratio() const { return after / before; }
};
// Of the loops that both have, in the order of the first.
std::vector<Change> compare(const Results& before, const Results& after);

// "85.1 us"
std::string time_text(double ns);

}  // namespace halyard::bench
