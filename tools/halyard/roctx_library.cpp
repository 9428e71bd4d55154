// libroctx64 as a library sees it that looks AMD's up by its name, with dlopen and dlsym, inside of
// `halyard run --profile`: the program has this file open under that name before (roctx.cpp), so
// the loader gives it out, also where AMD's is not installed. Each function is the program's of the
// same name, which passes the call on to AMD's library if there is one.
#include <dlfcn.h>

#include <cstdint>

namespace {

const void* library_of(const void* address) {
  Dl_info info = {};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// The program's function; null in a program that has none. This library's own name for it leads to
// the program's too, which comes first: so libraries are compared, not functions.
template <typename Function>
Function* of_program(const char* name) {
  static const char here = 0;
  void* const found = dlsym(RTLD_DEFAULT, name);
  return library_of(found) == library_of(&here) ? nullptr : reinterpret_cast<Function*>(found);
}

}  // namespace

// The interface as roctracer's roctx.h 4.1 declares it.

// NOLINTBEGIN(readability-identifier-naming): AMD's names
#define HALYARD_ROCTX extern "C" [[gnu::visibility("default")]]

HALYARD_ROCTX uint32_t roctx_version_major() {
  return 4;
}

HALYARD_ROCTX uint32_t roctx_version_minor() {
  return 1;
}

HALYARD_ROCTX void roctxMarkA(const char* message) {
  static auto* const function = of_program<void(const char*)>("roctxMarkA");
  if (function != nullptr) function(message);
}

HALYARD_ROCTX int roctxRangePushA(const char* message) {
  static auto* const function = of_program<int(const char*)>("roctxRangePushA");
  return function != nullptr ? function(message) : -1;
}

HALYARD_ROCTX int roctxRangePop() {
  static auto* const function = of_program<int()>("roctxRangePop");
  return function != nullptr ? function() : -1;
}

HALYARD_ROCTX uint64_t roctxRangeStartA(const char* message) {
  static auto* const function = of_program<uint64_t(const char*)>("roctxRangeStartA");
  return function != nullptr ? function(message) : 0;
}

HALYARD_ROCTX void roctxRangeStop(uint64_t id) {
  static auto* const function = of_program<void(uint64_t)>("roctxRangeStop");
  if (function != nullptr) function(id);
}
// NOLINTEND(readability-identifier-naming)
