// Redirects the calls that one loaded library makes to others: the slots of its procedure linkage
// table, and its other pointers to imported functions.
//
// It is how vendor libraries of a process that has already started are brought onto the virtual
// kernel driver: after they are loaded and before they are used, without environment variables.
#pragma once

#include <link.h>

#include <span>
#include <string>

namespace halyard::vgpu::kfd {

struct Redirect {
  const char* name = nullptr;  // of the imported function
  void* function = nullptr;    // what is called instead; of the same type
};

// Redirects the imports of `object`, which stays loaded, and of no other. Slots that the loader has
// made read-only (RELRO) are so again afterwards. Returns how many have been changed, and adds
// nothing to functions that the object does not import; -1, with a sentence in `error`, if a page's
// protection cannot be changed. Calls that run on other threads meanwhile go to either function.
int redirect_imports(const link_map& object, std::span<const Redirect> redirects,
                     std::string& error);

// What a call of `name` by the object reaches; null if it imports no such function. Of an object
// that was loaded with RTLD_NOW.
void* imported_function(const link_map& object, const char* name);

}  // namespace halyard::vgpu::kfd
