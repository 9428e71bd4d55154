#include "vgpu/isa/llvm_text.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

#include "vgpu/isa/op_table.h"

namespace halyard::vgpu::isa {
namespace {

// Versions to look for, the newest first. A number that does not exist yet costs one search.
constexpr int kNewestVersion = 40;

// The first version that knows the encodings (LLVM's release notes, "Changes to the AMDGPU
// Backend"). An older one would print a warning of its own.
int first_version(Generation generation) {
  if (generation == Generation::kGfx950 || generation >= Generation::kGfx1150) return 20;
  if (generation == Generation::kGfx942 || generation >= Generation::kGfx1100) return 17;
  return 15;
}

void* open_version(int version) {
  for (const std::string& name :
       {fmt::format("libLLVM.so.{}.1", version), fmt::format("libLLVM-{}.so.1", version),
        fmt::format("libLLVM-{}.so", version)}) {
    if (void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

// Encodings that LLVM 22 crashes at, or does not know although the processor has them (ISA
// documents, MUBUF and MTBUF). It gets a stand-in, and the text is mended.
constexpr uint32_t kTfe = 1u << 23;
constexpr uint32_t kConstant = 255, kStandIn = 0x100ff;  // of 16 bits both mean the same

// Typed buffer accesses and buffer atomics with TFE.
bool hide_tfe(const Target& target, uint32_t words[2]) {
  constexpr unsigned kFirstAtomic = 0x40;
  if (layout_of(target.generation) != Layout::kGfx9) return false;
  const Format format = format_of(Layout::kGfx9, words[0]);
  const bool atomic =
      format == Format::kMubuf && op_number(Layout::kGfx9, format, words) >= kFirstAtomic;
  if (!target.buffer_tfe || (format != Format::kMtbuf && !atomic) || (words[1] & kTfe) == 0)
    return false;
  words[1] &= ~kTfe;
  return true;
}

// v_madmk_f16 and v_madak_f16 with the constant 255, which LLVM 22 takes for "a literal follows".
bool hide_constant(uint32_t words[2]) {
  constexpr unsigned kMadmkF16 = 36, kMadakF16 = 37;
  const unsigned number = words[0] >> 25;
  if ((number != kMadmkF16 && number != kMadakF16) || words[1] != kConstant) return false;
  words[1] = kStandIn;
  return true;
}

}  // namespace

// The functions of llvm-c/Disassembler.h and llvm-c/Target.h that are used.
struct LlvmText::Library {
  using Create = void* (*)(const char* triple, const char* cpu, const char* features, void* info,
                           int tag, void* get_op_info, void* look_up);
  using Disassemble = size_t (*)(void* disassembler, uint8_t* bytes, uint64_t size, uint64_t pc,
                                 char* out, size_t out_size);
  using Dispose = void (*)(void* disassembler);

  int version = 0;
  Create create = nullptr;
  Disassemble disassemble = nullptr;
  Dispose dispose = nullptr;

  // Null if the version is not here, or has no AMDGPU target.
  static const Library* open(int version) {
    void* const handle = open_version(version);
    if (!handle) return nullptr;
    const auto find = [handle](const char* name) { return dlsym(handle, name); };
    auto library = std::make_unique<Library>();
    library->version = version;
    library->create = reinterpret_cast<Create>(find("LLVMCreateDisasmCPUFeatures"));
    library->disassemble = reinterpret_cast<Disassemble>(find("LLVMDisasmInstruction"));
    library->dispose = reinterpret_cast<Dispose>(find("LLVMDisasmDispose"));
    void (*initialize[])() = {
        reinterpret_cast<void (*)()>(find("LLVMInitializeAMDGPUTargetInfo")),
        reinterpret_cast<void (*)()>(find("LLVMInitializeAMDGPUTargetMC")),
        reinterpret_cast<void (*)()>(find("LLVMInitializeAMDGPUDisassembler"))};
    bool complete = library->create && library->disassemble && library->dispose;
    for (const auto function : initialize) complete = complete && function;
    if (!complete) return nullptr;
    for (const auto function : initialize) function();
    return library.release();  // lives as long as the process, as the library does
  }
};

LlvmText::LlvmText(const Target& target) : target_(target) {}

LlvmText::~LlvmText() {
  if (disassembler_) library_->dispose(disassembler_);
}

const LlvmText::Library* LlvmText::find_library(const Target& target) {
  static std::mutex mutex;
  static const Library* known = nullptr;
  static int known_first = 0;  // nothing of this version or later is here, if `known` is null
  const std::lock_guard lock(mutex);
  const int first = first_version(target.generation);
  if (known) return known->version >= first ? known : nullptr;
  if (known_first != 0 && first >= known_first) return nullptr;
  for (int version = kNewestVersion; version >= first; --version) {
    known = Library::open(version);
    if (known) return known;
  }
  known_first = first;
  return nullptr;
}

std::string LlvmText::text(std::span<const uint8_t> bytes, uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (!searched_) {
    searched_ = true;
    library_ = find_library(target_);
    if (library_) {
      disassembler_ = library_->create("amdgcn-amd-amdhsa", target_.processor.c_str(), "", nullptr,
                                       0, nullptr, nullptr);
    }
  }
  if (!disassembler_) return {};
  // LLVM 22 crashes where an encoding ends early.
  alignas(4) uint8_t padded[24] = {};
  std::memcpy(padded, bytes.data(), std::min(bytes.size(), sizeof padded));
  uint32_t words[2];
  std::memcpy(words, padded, sizeof words);
  const bool has_tfe = hide_tfe(target_, words);
  const bool has_constant = hide_constant(words);
  std::memcpy(padded, words, sizeof words);

  char line[512];
  const size_t size =
      library_->disassemble(disassembler_, padded, sizeof padded, address, line, sizeof line);
  if (size != bytes.size()) return {};
  std::string text = line;
  if (has_tfe) text += " tfe";
  if (has_constant) {
    const std::string stand_in = fmt::format("{:#x}", kStandIn);
    if (const size_t at = text.find(stand_in); at != text.npos)
      text.replace(at, stand_in.size(), fmt::format("{:#x}", kConstant));
  }
  const size_t start = text.find_first_not_of(" \t\n");
  return start == text.npos ? text : text.substr(start);
}

}  // namespace halyard::vgpu::isa
