// What the tests of one run share: the device under test and the suite's code objects.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings/settings.h"
#include "cts/harness/expectations.h"
#include "cts/harness/findings.h"
#include "cts/harness/options.h"
#include "cts/harness/report.h"
#include "cts/harness/tolerance.h"
#include "hal/device.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "registry/registry.h"

namespace halyard::cts {

class Environment {
 public:
  // Made by main, once, before any test runs; never destroyed, as the vendor runtime's threads
  // outlive main. INVALID_ARGUMENT lists the mistakes of configs.
  static Status start(const Options& options);
  static Environment& get();

  const Options& options() const { return options_; }

  // What --check has found since the last call. The file of it is removed at the end.
  std::string take_findings() { return findings_.take(); }
  void remove_findings() { findings_.remove(); }

  // The device under test: the same one for all tests, except that one that a test has lost is
  // opened anew.
  Result<Ref<Device>> device();
  // One more device object for the same GPU.
  Result<Ref<Device>> open_device(Span<const Option> options = {});
  // The driver under test, with the devices that it lists.
  Result<LoadedDriver> driver();
  // The driver's name, from the URI or from what a config's name stands for.
  std::string driver_name() const;
  // For the reports.
  Subject subject();
  // What --config says of results of this type on the device under test (tolerance.h).
  std::optional<Tolerance> tolerance(std::string_view type);

  // The bytes of <kernels>/<name>.hipfb, which has code objects for all targets.
  Result<std::vector<std::byte>> read_module(std::string_view name) const;
  // The code object in it that is for `target`, or that such a device loads
  // (cts/kernels/variant.h).
  Result<std::vector<std::byte>> read_object(std::string_view target, std::string_view name) const;
  // The driver's expectations, or empty if it has none.
  std::string expectations_path() const;
  // The expectations for the tests of this run.
  void set_expectations(Expectations expectations) { expectations_ = std::move(expectations); }
  const Expectations& expectations() const { return expectations_; }

 private:
  Environment(const Options& options, config::Settings settings);

  // The path of <name>.hipfb. NOT_FOUND lists where it was looked for.
  Result<std::string> find_module(std::string_view name) const;

  // Loads the virtual GPU, if it is requested. Once is enough.
  Status prepare();

  Options options_;
  config::Settings settings_;  // of --config; empty without one
  Findings findings_;
  Expectations expectations_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> kernel_folders_;
  std::unique_ptr<Registry> registry_;
  Ref<Device> device_;
};

// "gfx90a" of "gfx90a:sramecc+:xnack-".
std::string processor_of(StringView target);

// Against what the host computes: within what --config says of the type, or else within `ulps`.
template <typename T>
testing::AssertionResult approximates(const std::vector<T>& actual, const std::vector<T>& expected,
                                      uint64_t ulps) {
  const std::optional<Tolerance> tolerance = Environment::get().tolerance(type_name<T>());
  return tolerance ? within_tolerance(actual, expected, *tolerance)
                   : within_ulps(actual, expected, ulps);
}

}  // namespace halyard::cts
