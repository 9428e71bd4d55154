// A library that calls functions of another: through its linkage table and through a pointer.
#include <unistd.h>

namespace {

// In memory that the loader fills in: the compiler may not assume what it holds.
pid_t (*volatile pointer)() = &getppid;

}  // namespace

extern "C" __attribute__((visibility("default"))) pid_t call_directly() {
  return getppid();
}

extern "C" __attribute__((visibility("default"))) pid_t call_by_pointer() {
  return pointer();
}

extern "C" __attribute__((visibility("default"))) pid_t call_another() {
  return getpid();
}
