// Selects the variant of a module for a device: a pure function of the facts of both.
//
// For host code and drivers; not part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hal/target_id.h"

namespace halyard {

// The newest code object version that Halyard reads. Every loader accepts it: an older loader gets
// a presentation (hal/presentation.h).
inline constexpr uint32_t kNewestCodeObjectVersion = 6;

// The facts of a variant for the selection.
struct VariantFacts {
  TargetId target;
  uint32_t version = 0;          // of the code object
  uint32_t generic_version = 0;  // 0 unless the target is generic
  // Why no device can load it ("it is LLVM bitcode"), or empty.
  std::string problem;
};

// The facts of the device and of the runtime that loads for it.
struct LoaderFacts {
  TargetId device;
  uint32_t newest_version = kNewestCodeObjectVersion;  // including presentations
};

struct Selection {
  std::optional<size_t> chosen;
  // For each variant the reason why it does not fit, as the second half of a sentence; or empty.
  std::vector<std::string> reasons;
};

// The reason why the variant cannot be loaded there; empty if it can.
std::string why_not_fits(const VariantFacts& variant, const LoaderFacts& loader);

// Whether `a` is preferred to `b`; both fit. The order: the exact processor before a generic
// target; a feature setting that the device may not have after code for any setting; more settings
// that equal the device's; the newer generic version; the newer code object version. (LLVM
// AMDGPUUsage, "Target ID" and "Generic processors".)
bool is_preferred(const VariantFacts& a, const VariantFacts& b, const LoaderFacts& loader);

// The preferred one of the fitting variants; the first of equals.
Selection select_variant(const std::vector<VariantFacts>& variants, const LoaderFacts& loader);

// One of several code objects that can be alternatives or parts of one program.
struct LooseVariant {
  VariantFacts facts;
  std::vector<std::string> kernels;
};

// The fewest fitting variants that together have all kernels of any of them; for each kernel the
// preferred variant. Returns indices, preferred ones first. If none has a kernel, the preferred
// one.
std::vector<size_t> select_loose(const std::vector<LooseVariant>& variants,
                                 const LoaderFacts& loader);

}  // namespace halyard
