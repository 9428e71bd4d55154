// The pass pipelines of bindings/mlir/pipelines, as the build has read them.
#pragma once

#include <string_view>

namespace halyard::toolchain {

// Their placeholders (@CHIP@) are for make_pipeline (toolchain/mlir_program.h).
extern const std::string_view kLaunchesPipeline;
extern const std::string_view kTensorsPipeline;
extern const std::string_view kCpuPipeline;

}  // namespace halyard::toolchain
