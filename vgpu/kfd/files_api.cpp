// halyard_vgpu_files: the folder that `halyard vgpu exec` has programs see the driver's files in.
#include <cstdio>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/kfd/file_folder.h"
#include "vgpu/machine/profile.h"

extern "C" __attribute__((visibility("default"))) int halyard_vgpu_files(
    const char* profile, char* path, size_t path_size, char* error, size_t error_size) {
  using namespace halyard::vgpu;  // NOLINT(google-build-using-namespace)
  std::string message;
  machine::Profile loaded;
  std::string folder;
  if (machine::load_profile(profile != nullptr ? profile : "", machine::profile_directory(), loaded,
                            message)) {
    folder = kfd::make_file_folder(kfd::driver_files(loaded, kfd::host_facts()),
                                   kfd::default_folder_parent(), message);
  }
  if (folder.size() + 1 > path_size) {
    message = "The path of the virtual GPU's files does not fit into the caller's memory.";
    folder.clear();
  }
  if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
  if (folder.empty()) return 1;
  std::snprintf(path, path_size, "%s", folder.c_str());
  return 0;
}
