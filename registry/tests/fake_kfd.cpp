// Stands in for the virtual GPU's library, libhalyard-kfd.so.0.

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <stdexcept>

extern "C" __attribute__((visibility("default"))) int halyard_vgpu_configure(const char* profile,
                                                                             char* error,
                                                                             size_t error_size) {
  if (std::strcmp(profile, "silent") == 0) return 9;
  if (std::strcmp(profile, "throws") == 0) throw std::runtime_error("profile");
  if (std::strncmp(profile, "gfx", 3) == 0 || *profile == '\0') return 0;
  std::snprintf(error, error_size, "There is no profile (%s).", profile);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int halyard_vgpu_enter(const char* runtime,
                                                                         char* error,
                                                                         size_t error_size) {
  if (*runtime == '\0') return 0;
  std::snprintf(error, error_size, "There is no runtime (%s).", runtime);
  return 1;
}
