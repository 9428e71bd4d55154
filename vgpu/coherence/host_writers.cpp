#include "vgpu/coherence/host_writers.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "vgpu/coherence/reliances.h"

namespace halyard::vgpu::coherence {
namespace {

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Libraries that write for their caller: memcpy() and its like, or a sanitizer's form of them.
bool writes_for_others(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {
      "libc.so",    "libc-",      "ld-linux",    "libstdc++.so", "libgcc_s.so",
      "libasan.so", "libtsan.so", "libubsan.so", "libclang_rt."};
  return std::ranges::any_of(kNames, [&](auto prefix) { return name.starts_with(prefix); });
}

struct Walk {
  uint64_t from = 0;  // the frame of the access; those before are the handler's
  bool has_begun = false;
  unsigned frames = 0;
  HostCallers found;
};

// A stack that is longer than this belongs to no copy.
constexpr unsigned kMostFrames = 64;

// The file that an address of code is from; null: none.
const char* file_of(uint64_t pc, const void** base) {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(pc), &info) == 0) return nullptr;
  *base = info.dli_fbase;
  return info.dli_fname;
}

// The virtual GPU's library, whose functions stand between those of the runtime (HSA_TOOLS_LIB).
bool is_own(const void* base) {
  static const void* const own = [] {
    const void* found = nullptr;
    file_of(reinterpret_cast<uint64_t>(&callers_of), &found);
    return found;
  }();
  return base == own;
}

_Unwind_Reason_Code look_at(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (++walk.frames > kMostFrames) return _URC_END_OF_STACK;
  int is_before_instruction = 0;
  const uint64_t pc = _Unwind_GetIPInfo(context, &is_before_instruction);
  walk.has_begun |= pc == walk.from;
  if (!walk.has_begun || pc == 0) return _URC_NO_REASON;
  // A return address may be the next function's.
  const uint64_t call = pc - (is_before_instruction == 0 ? 1 : 0);
  const void* base = nullptr;
  const char* const file = file_of(call, &base);
  const std::string_view name = file != nullptr ? file_name(file) : "";
  if (writes_for_others(name)) return _URC_NO_REASON;
  if (walk.found.writer == 0) {
    if (file == nullptr || !is_own(base)) walk.found.writer = call;
    return is_runtime(name) ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  if (is_runtime(name) || (file != nullptr && is_own(base))) return _URC_NO_REASON;
  if (file != nullptr) walk.found.returns_to = pc;
  return _URC_END_OF_STACK;
}

}  // namespace

HostCallers callers_of(const HostAccess& access) {
  Walk walk;
  walk.from = access.pc;
  _Unwind_Backtrace(look_at, &walk);
  // Without a stack, the code itself.
  const void* base = nullptr;
  const char* const file = file_of(access.pc, &base);
  const bool is_ours = file != nullptr && is_own(base);
  if (walk.found.writer == 0 && !is_ours) walk.found.writer = access.pc;
  return walk.found;
}

std::string function_text(uint64_t pc) {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(pc), &info) == 0 || info.dli_fname == nullptr)
    return fmt::format("code at 0x{:x}", pc);
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  return fmt::format("{} ({}+0x{:x})",
                     info.dli_sname != nullptr ? info.dli_sname : "a function without a name",
                     info.dli_fname, pc - base);
}

HostWriterId HostWriters::add(HostWriter writer) {
  writers_.push_back(std::move(writer));
  return static_cast<HostWriterId>(writers_.size());
}

HostWriterId HostWriters::id_of(uint64_t pc) {
  const auto [found, is_new] = ids_.try_emplace(pc, 0);
  if (!is_new) return found->second;
  Dl_info info = {};
  HostWriter writer;
  if (dladdr(reinterpret_cast<void*>(pc), &info) != 0 && info.dli_fname != nullptr)
    writer.library = file_name(info.dli_fname);
  writer.place = function_text(pc);
  writer.pc = pc;
  return found->second = add(std::move(writer));
}

}  // namespace halyard::vgpu::coherence
