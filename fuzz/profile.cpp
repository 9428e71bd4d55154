// Profiles of the virtual GPU: YAML from the user.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "vgpu/machine/profile.h"

// Profiles are read by path: the bytes get one that is no file on a disk.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard::vgpu::machine;
  const int file = memfd_create("profile", 0);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    Profile profile;
    std::string error;
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    if (!load_profile(path, "/nonexistent", profile, error) && error.empty()) abort();
  }
  close(file);
  return 0;
}
