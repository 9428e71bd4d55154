// Which variant of a module a device runs: a pure function over what is known of both.
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

// The newest code object version that Halyard reads, and that every loader takes: those that are
// older than it are given a presentation (hal/presentation.h).
inline constexpr uint32_t kNewestCodeObjectVersion = 6;

// What selection knows of a variant.
struct VariantFacts {
  TargetId target;
  uint32_t version = 0;          // of the code object
  uint32_t generic_version = 0;  // 0 unless the target is generic
  // Why it cannot be loaded anywhere ("it is LLVM bitcode"), or empty.
  std::string problem;
};

// What selection knows of the device and of the runtime that loads for it.
struct LoaderFacts {
  TargetId device;
  uint32_t newest_version = kNewestCodeObjectVersion;  // presentation included
};

struct Selection {
  std::optional<size_t> chosen;
  // For each variant why it does not fit, as the second half of a sentence; empty if it does.
  std::vector<std::string> reasons;
};

// The reason why the variant cannot be loaded there; empty if it can.
std::string why_not_fits(const VariantFacts& variant, const LoaderFacts& loader);

// Whether `a` is to be preferred to `b`; both fit. In this order: the exact processor before a
// generic target; a feature setting that the device may not have only after code for any setting;
// the more settings that are the device's own; the newer generic version; the newer code object
// version. (LLVM AMDGPUUsage, "Target ID" and "Generic processors".)
bool is_preferred(const VariantFacts& a, const VariantFacts& b, const LoaderFacts& loader);

// The preferred one of those that fit; of equals the first.
Selection select_variant(const std::vector<VariantFacts>& variants, const LoaderFacts& loader);

// One of several code objects of which nobody says whether they are alternatives or parts.
struct LooseVariant {
  VariantFacts facts;
  std::vector<std::string> kernels;
};

// As few of those that fit as have all the kernels that any of them has, the preferred one of those
// that have a kernel. As indices, the preferred ones first. If none has a kernel, the preferred
// one.
std::vector<size_t> select_loose(const std::vector<LooseVariant>& variants,
                                 const LoaderFacts& loader);

}  // namespace halyard
