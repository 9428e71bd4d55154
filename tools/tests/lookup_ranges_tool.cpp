// A tools library (see ranges_tool.cpp) that looks AMD's ROCTX library up by its names, as
// libraries do that are not linked with it. Of each name it marks what the calls return, "NAME 4.1
// 0 0", or that there is no such library.
#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace {

template <typename Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// `flags`: RTLD_GLOBAL also puts the library where the program looks for AMD's.
void use(const std::string& name, int flags) {
  void* const library = dlopen(name.c_str(), RTLD_LAZY | flags);
  auto* const mark = function_of<void(const char*)>(library, "roctxMarkA");
  if (library == nullptr || mark == nullptr) {
    // The program has it, and what is not found cannot say so itself.
    if (auto* const program = function_of<void(const char*)>(RTLD_DEFAULT, "roctxMarkA"))
      program((name + " is not there").c_str());
    return;
  }
  const uint32_t major = function_of<uint32_t()>(library, "roctx_version_major")();
  const uint32_t minor = function_of<uint32_t()>(library, "roctx_version_minor")();
  const uint64_t id = function_of<uint64_t(const char*)>(library, "roctxRangeStartA")("started");
  const int pushed =
      function_of<int(const char*)>(library, "roctxRangePushA")(("by " + name).c_str());
  const int popped = function_of<int()>(library, "roctxRangePop")();
  function_of<void(uint64_t)>(library, "roctxRangeStop")(id);
  mark((name + " " + std::to_string(major) + "." + std::to_string(minor) + " " +
        std::to_string(pushed) + " " + std::to_string(popped))
           .c_str());
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): AMD's names
extern "C" {
[[gnu::visibility("default")]] bool OnLoad(void*, uint64_t, uint64_t, const char* const*) {
  use("libroctx64.so.4", RTLD_LOCAL);
  use("libroctx64.so", RTLD_GLOBAL);
  use("libroctx64.so.4", RTLD_GLOBAL);
  return true;
}

[[gnu::visibility("default")]] void OnUnload() {}
}
// NOLINTEND(readability-identifier-naming)
