// Results: the buffers of a kernel that a user wants to see, and the texts that select them.
//
// The results of a run are its output-only buffers (&1024xf32); if it has none, all its buffers. A
// text for a result can begin with the argument's name, in the form of printed results: "[2] out:
// …", "[2]: …" or "out: …". Other texts apply to the results in order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hal/executable.h"
#include "hal/status.h"
#include "tools/values/value.h"

namespace halyard::runner {

// The indices of the arguments that are results. `values` as bind_arguments leaves them.
std::vector<size_t> results_of(const std::vector<values::Value>& values);

struct ResultText {
  size_t argument = 0;
  std::string text;
};

// What `texts`, which came with `flag`, are for. INVALID_ARGUMENT for an argument that does not
// exist or is no buffer, and for more texts than results.
Result<std::vector<ResultText>> assign_results(std::string_view flag,
                                               const std::vector<std::string>& texts,
                                               const FunctionInfo& function,
                                               const std::vector<values::Value>& values);

// The same for named buffers, which texts name as "%sum: …": `labels`, with the sign. `results`:
// the buffers for texts without a name, as indices into `labels`, and so is
// ResultText::argument.
Result<std::vector<ResultText>> assign_named_results(std::string_view flag,
                                                     const std::vector<std::string>& texts,
                                                     const std::vector<std::string>& labels,
                                                     const std::vector<size_t>& results);

}  // namespace halyard::runner
