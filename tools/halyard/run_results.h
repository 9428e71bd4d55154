// The output of a run's results: files, lines, and the comparison with expected values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings/settings.h"
#include "hal/status.h"
#include "tools/runner/results.h"
#include "tools/runner/run.h"
#include "tools/values/compare.h"
#include "tools/values/file.h"

namespace halyard::cli {

// How texts of --output and --expected-output name a run's buffers: ResultText::argument is a place
// in Run::buffers.
using AssignResults = std::function<Result<std::vector<runner::ResultText>>(
    std::string_view flag, const std::vector<std::string>& texts)>;

// Where a result goes.
struct Sink {
  size_t buffer = 0;                         // in Run::buffers
  std::shared_ptr<values::OutputFile> file;  // null: standard output; several may have one
  bool is_npy = false;                       // or raw bytes; on standard output: or text
};

struct Expectation {
  size_t buffer = 0;
  values::Tensor tensor;
  values::Tolerance tolerance;
};

// What flags say of tolerances; nothing: what configs or the library say.
struct ToleranceFlags {
  std::optional<double> absolute, relative;
};

// Opens the files, so that one that cannot be written is known before anything runs. Without texts
// those at the places `standard` are printed.
Result<std::vector<Sink>> open_sinks(const std::vector<std::string>& texts,
                                     const std::vector<runner::RunBuffer>& buffers,
                                     const std::vector<size_t>& standard,
                                     const AssignResults& assign);

Result<std::vector<Expectation>> parse_expectations(const std::vector<std::string>& texts,
                                                    const std::vector<runner::RunBuffer>& buffers,
                                                    const AssignResults& assign,
                                                    const ToleranceFlags& flags,
                                                    const config::Settings& settings,
                                                    std::string_view target);

// The buffers that sinks and expectations want, each once.
std::vector<size_t> wanted_buffers(const std::vector<Sink>& sinks,
                                   const std::vector<Expectation>& expectations);

// A run that is over.
struct Delivery {
  const runner::Run& run;
  const std::vector<values::Tensor>& results;  // as run.results names them
  std::string prefix;                          // of each line: the device, where there are several
  uint64_t print_limit = 0;
};

// Files first, all of them whole before the first is put in place; then standard output.
Status deliver(std::vector<Sink>& sinks, const Delivery& delivery);
// Reports each expected result, unless standard output is an .npy file. ABORTED with the
// difference.
Status compare(const std::vector<Expectation>& expectations, const Delivery& delivery,
               bool is_quiet);
// Whether standard output gets a file.
bool fills_standard_output(const std::vector<Sink>& sinks);

}  // namespace halyard::cli
