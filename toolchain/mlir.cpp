#include "toolchain/mlir.h"

#include <fmt/format.h>

#include <optional>

#include "hal/error.h"
#include "hal/target_map.h"

namespace halyard::toolchain {
namespace {

// "+xnack,-sramecc": the settings that the target asks for.
std::string features_of(const TargetId& target) {
  std::string text;
  const auto add = [&](Feature setting, const char* name) {
    if (setting != Feature::kOn && setting != Feature::kOff) return;
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ",", setting == Feature::kOn ? "+" : "-", name);
  };
  add(target.sramecc, "sramecc");
  add(target.xnack, "xnack");
  return text;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The string that begins behind a quotation mark: "\\" is a backslash, "\41" a byte. Nothing if it
// does not end or has another escape.
std::optional<std::vector<std::byte>> unescape(std::string_view text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return bytes;
    if (text[i] != '\\') {
      bytes.push_back(static_cast<std::byte>(text[i]));
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes.push_back(std::byte{'\\'});
      i += 1;
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[i + 1]);
      const int low = digit_of(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      bytes.push_back(static_cast<std::byte>(high * 16 + low));
      i += 2;
    }
  }
  return std::nullopt;
}

}  // namespace

Command mlir_to_bitcode(const MlirCompilation& compilation, const std::string& output) {
  const ProcessorInfo* const processor = find_processor(compilation.target.processor);
  const bool wave64 = processor == nullptr || processor->wavefront_size != 32;
  const std::string features = features_of(compilation.target);
  // Version 6 has version 5's hidden arguments, and older device libraries know no other.
  const uint32_t abi = compilation.code_object_version == 4 ? 400 : 500;
  const std::string pipeline = fmt::format(
      "builtin.module("
      "func.func(convert-linalg-to-parallel-loops,gpu-map-parallel-loops,"
      "convert-parallel-loops-to-gpu),"
      "lower-affine,gpu-kernel-outlining,"
      "rocdl-attach-target{{chip={0} abi={1} wave64={2}{3}{4}}},"
      "gpu.module(convert-scf-to-cf,"
      "convert-gpu-to-rocdl{{chipset={0} runtime=HIP use-bare-ptr-memref-call-conv=true}},"
      "reconcile-unrealized-casts),"
      "gpu-module-to-binary{{format=llvm toolkit={5}}})",
      compilation.target.processor, abi, wave64, features.empty() ? "" : " features=", features,
      compilation.toolkit);
  Command command = {compilation.mlir_opt, "--pass-pipeline=" + pipeline};
  command.insert(command.end(), compilation.options.begin(), compilation.options.end());
  command.push_back(compilation.input.starts_with('-') ? "./" + compilation.input
                                                       : compilation.input);
  command.insert(command.end(), {"-o", output});
  return command;
}

Result<std::vector<std::vector<std::byte>>> bitcode_in(std::string_view text) {
  std::vector<std::vector<std::byte>> modules;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos || !line.substr(first).starts_with("gpu.binary ")) continue;
    constexpr std::string_view kAttribute = "offload = \"";
    const size_t at = line.find(kAttribute);
    std::optional<std::vector<std::byte>> bytes;
    if (at != std::string_view::npos) bytes = unescape(line.substr(at + kAttribute.size()));
    if (!bytes) {
      return error(StatusCode::kDataLoss,
                   "A gpu.binary operation that mlir-opt has written has no readable bitcode. "
                   "Halyard knows the format of mlir-22-tools: install these, or name another "
                   "mlir-opt (HALYARD_MLIR_OPT).");
    }
    modules.push_back(*std::move(bytes));
  }
  return modules;
}

}  // namespace halyard::toolchain
