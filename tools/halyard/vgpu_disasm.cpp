// halyard vgpu disasm: a kernel's code as the virtual GPU's engine decodes it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hal/code_object.h"
#include "hal/error.h"
#include "hal/kernel_code.h"
#include "hal/module.h"
#include "registry/load_report.h"
#include "registry/vgpu.h"
#include "tools/halyard/session.h"
#include "tools/halyard/variants.h"
#include "tools/halyard/vgpu.h"
#include "vgpu/halyard_vgpu.h"

namespace halyard::cli {
namespace {

struct DisasmFlags {
  std::string file;
  std::vector<std::string> kernels;
  std::string target;
};

// What the visitor of halyard_vgpu_disassemble writes into.
struct Listing {
  std::string text;
  uint64_t entry = 0;
  const std::byte* code = nullptr;
  size_t instructions = 0;
  size_t refused = 0;
};

int add_line(void* user, const halyard_vgpu_instruction* instruction) {
  auto& listing = *static_cast<Listing*>(user);
  const uint64_t offset = instruction->address - listing.entry;
  std::string words;
  for (uint32_t at = 0; at + 4 <= instruction->size; at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, listing.code + offset + at, sizeof word);
    words += fmt::format("{}{:08x}", at == 0 ? "" : " ", word);
  }
  listing.text += fmt::format(
      "  +0x{:04x}  {:<17}  {:<13}  {}{}\n", offset, words, instruction->kind, instruction->text,
      instruction->executes != 0 ? "" : "    ; not executed: a queue error");
  ++listing.instructions;
  listing.refused += instruction->executes != 0 ? 0 : 1;
  return 0;
}

// The engine decodes for processors; a generic target's code is any of its members' code.
std::string processor_for(const TargetId& target) {
  return target.processor == "gfx9-generic" ? "gfx900" : target.processor;
}

// OK if the engine decodes the variant's code.
Status check_variant(halyard_vgpu_disassemble_t disassemble, const DisasmFlags& flags,
                     const ModuleVariant& variant) {
  if (!variant.facts.problem.empty()) {
    return error(StatusCode::kInvalidArgument, "{} cannot be disassembled: {}.",
                 place_of(flags.file, variant), variant.facts.problem);
  }
  const std::string processor = processor_for(variant.facts.target);
  char message[1024] = {};
  if (disassemble(processor.c_str(), nullptr, 0, 0, nullptr, nullptr, message, sizeof message) == 0)
    return {};
  return Status(StatusCode::kInvalidArgument, message);
}

Status list_kernel(halyard_vgpu_disassemble_t disassemble, const std::string& processor,
                   const CodeObject& object, const ModuleVariant& variant, const KernelInfo& kernel,
                   std::string& text) {
  HALYARD_ASSIGN_OR_RETURN(const KernelCode code, kernel_code(variant.bytes, kernel));
  Listing listing;
  listing.entry = code.address;
  listing.code = code.bytes.data();
  char message[1024] = {};
  if (disassemble(processor.c_str(), code.bytes.data(), code.bytes.size(), code.address, add_line,
                  &listing, message, sizeof message) != 0) {
    return Status(StatusCode::kInvalidArgument, message);
  }
  const FunctionInfo& info = kernel.function;
  text += fmt::format(
      "{}{} for {}: {} instructions, {} bytes; {} VGPRs, {} AGPRs, {} SGPRs, {} bytes of LDS, {} "
      "bytes of scratch\n{}",
      text.empty() ? "" : "\n", info.name.view(), object.target_name(), listing.instructions,
      code.bytes.size(), info.vgpr_count, info.agpr_count, info.sgpr_count, info.group_segment_size,
      info.private_segment_size, listing.text);
  if (listing.refused != 0)
    text += fmt::format("  {} of them are not executed.\n", listing.refused);
  return {};
}

Result<halyard_vgpu_disassemble_t> find_disassembler() {
  HALYARD_RETURN_IF_ERROR(load_virtual_gpu("", {.in_this_process = false}));
  void* const library = dlopen(virtual_gpu_library().c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const symbol = library != nullptr ? dlsym(library, "halyard_vgpu_disassemble") : nullptr;
  if (symbol == nullptr) {
    return error(StatusCode::kFailedPrecondition,
                 "The virtual GPU's library ({}) is older than this program: it has no "
                 "halyard_vgpu_disassemble.",
                 virtual_gpu_library());
  }
  return reinterpret_cast<halyard_vgpu_disassemble_t>(symbol);
}

Status disasm(const DisasmFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const Module module, Module::open(flags.file));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<const ModuleVariant*> variants,
                           variants_for(module, flags.file, flags.target));
  HALYARD_ASSIGN_OR_RETURN(const halyard_vgpu_disassemble_t disassemble, find_disassembler());
  std::string text;
  Status refused;
  for (const ModuleVariant* const entry : variants) {
    const ModuleVariant& variant = *entry;
    Status decodes = check_variant(disassemble, flags, variant);
    // A fat file has code for many GPUs; what the engine is not can be left out.
    if (!decodes.ok()) {
      refused = std::move(decodes);
      continue;
    }
    HALYARD_ASSIGN_OR_RETURN(const CodeObject object,
                             CodeObject::read(variant.bytes.data(), variant.bytes.size()));
    std::vector<const KernelInfo*> kernels;
    for (const KernelInfo& kernel : object.kernels()) {
      if (flags.kernels.empty() && kernel.has_descriptor) kernels.push_back(&kernel);
    }
    for (const std::string& name : flags.kernels) {
      HALYARD_ASSIGN_OR_RETURN(const KernelInfo* const kernel, object.find(name));
      kernels.push_back(kernel);
    }
    const std::string processor = processor_for(object.target());
    for (const KernelInfo* kernel : kernels)
      HALYARD_RETURN_IF_ERROR(list_kernel(disassemble, processor, object, variant, *kernel, text));
  }
  if (text.empty() && !refused.ok()) return refused;
  return print(text);
}

}  // namespace

void add_vgpu_disasm_command(Command vgpu, Status& outcome) {
  Command command =
      vgpu.add_subcommand("disasm", "Disassemble kernels as the virtual GPU decodes them");
  const auto flags = std::make_shared<DisasmFlags>();
  command
      .add_option("file", flags->file,
                  "A code object, or any file that `halyard run --module` accepts")
      ->type_name("FILE")
      ->required();
  command.add_option("--function", flags->kernels, "Only this kernel; may be repeated")
      ->type_name("NAME");
  command
      .add_option("--target", flags->target,
                  "Only code for this target, such as gfx90a, gfx90a:xnack- or mi210")
      ->type_name("TARGET");
  command.footer(
      "Each line has the offset from the kernel's entry, the code, the kind of instruction, and "
      "LLVM's text.\n"
      "Instructions that the engine does not execute are marked.\n"
      "\n"
      "Example:\n"
      "  halyard vgpu disasm vadd.hsaco --function=vadd");
  command.callback([flags, &outcome] { outcome = disasm(*flags); });
}

}  // namespace halyard::cli
