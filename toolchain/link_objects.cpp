#include "toolchain/link_objects.h"

#include <fmt/format.h>

#include "hal/error.h"
#include "toolchain/commands.h"
#include "toolchain/process.h"

namespace halyard::toolchain {

Status link_objects(const LinkContext& context, const std::vector<std::string>& objects,
                    const std::string& output) {
  HALYARD_ASSIGN_OR_RETURN(const std::string lld, find_tool(Tool::kLld, context.search));
  HALYARD_ASSIGN_OR_RETURN(
      const ProcessEnd end,
      run_process(link(lld, objects, output), context.folder.process(Output::kCapture)));
  // Captured only to be looked at.
  fmt::print(stderr, "{}{}", end.output, end.errors);
  if (end.ok()) return {};
  std::string advice;
  if (end.errors.find("undefined") != std::string::npos) {
    advice = " A function or variable is used that no input defines: add the file that defines it.";
  }
  if (end.errors.find("__rust_alloc") != std::string::npos) {
    advice =
        " The Rust crate uses `alloc` and has no allocator: give it a static with "
        "#[global_allocator].";
  }
  if (end.errors.find("__oclc_ABI_version") != std::string::npos) {
    advice =
        " The device libraries have no constants for this code object version: name newer ones "
        "(--bitcode-dir), or choose another version (--code-object-version).";
  } else if (end.errors.find("undefined hidden symbol: _Z") != std::string::npos ||
             end.errors.find("undefined symbol: _Z") != std::string::npos) {
    advice +=
        " OpenCL C's builtin functions are in ROCm's device libraries: the Debian package "
        "rocm-device-libs, or --bitcode-dir.";
  }
  return error(StatusCode::kInvalidArgument,
               "The linker ({}) {} for the target {}; its messages are above.{}", lld,
               how_it_ended(end), to_string(context.target), advice);
}

}  // namespace halyard::toolchain
