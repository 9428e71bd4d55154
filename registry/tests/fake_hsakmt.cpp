// Stands in for libhsakmt.so.1: for the virtual GPU's if HALYARD_FAKE_VGPU is defined, otherwise
// for the vendor's. With HALYARD_FAKE_KFD it stands in for libhalyard-kfd.so.0.

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#ifdef HALYARD_FAKE_VGPU
extern "C" __attribute__((visibility("default"))) int halyard_vgpu_configure(const char* profile,
                                                                             char* error,
                                                                             size_t error_size) {
  if (std::strcmp(profile, "silent") == 0) return 9;
  if (std::strcmp(profile, "throws") == 0) throw std::runtime_error("profile");
  if (std::strncmp(profile, "gfx", 3) == 0 || *profile == '\0') return 0;
  std::snprintf(error, error_size, "There is no profile (%s).", profile);
  return 1;
}
#endif

#ifdef HALYARD_FAKE_KFD
extern "C"
    __attribute__((visibility("default"))) int halyard_vgpu_enter(const char* runtime, char* error,
                                                                  size_t error_size) {
  if (*runtime == '\0') return 0;
  std::snprintf(error, error_size, "There is no runtime (%s).", runtime);
  return 1;
}
#endif

// For the test: is the library's symbol in the global scope, where the vendor runtime looks?
extern "C" __attribute__((visibility("default"))) int halyard_fake_thunk_function() {
  return 7;
}
