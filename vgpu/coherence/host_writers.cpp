#include "vgpu/coherence/host_writers.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

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
  uint64_t found = 0;
};

// A stack that is longer than this belongs to no copy.
constexpr unsigned kMostFrames = 64;

_Unwind_Reason_Code look_at(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (++walk.frames > kMostFrames) return _URC_END_OF_STACK;
  int is_before_instruction = 0;
  uint64_t pc = _Unwind_GetIPInfo(context, &is_before_instruction);
  walk.has_begun |= pc == walk.from;
  if (!walk.has_begun || pc == 0) return _URC_NO_REASON;
  // A return address may be the next function's.
  if (is_before_instruction == 0) --pc;
  Dl_info info = {};
  const bool is_known = dladdr(reinterpret_cast<void*>(pc), &info) != 0;
  if (is_known && info.dli_fname != nullptr && writes_for_others(file_name(info.dli_fname)))
    return _URC_NO_REASON;
  walk.found = pc;
  return _URC_END_OF_STACK;
}

bool is_own(uint64_t pc) {
  static const void* const base = [] {
    Dl_info info = {};
    dladdr(reinterpret_cast<const void*>(&caller_of), &info);
    return static_cast<const void*>(info.dli_fbase);
  }();
  Dl_info info = {};
  return dladdr(reinterpret_cast<void*>(pc), &info) != 0 && info.dli_fbase == base;
}

}  // namespace

uint64_t caller_of(const HostAccess& access) {
  Walk walk;
  walk.from = access.pc;
  _Unwind_Backtrace(look_at, &walk);
  const uint64_t found = walk.found != 0 ? walk.found : access.pc;
  return is_own(found) ? 0 : found;
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
