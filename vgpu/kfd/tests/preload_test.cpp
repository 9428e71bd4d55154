// The driver in a process that has the hooks preloaded, as `halyard vgpu exec` starts it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vgpu/kfd/door.h"
#include "vgpu/kfd/import_table.h"

namespace halyard::vgpu::kfd {
namespace {

// The hooks take the driver's locks, which its own calls may come with.
TEST(Preload, TheDriversOwnCallsAreTheCLibrarys) {
  void* const driver = dlopen(HALYARD_KFD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(driver, nullptr) << dlerror();
  const auto door =
      reinterpret_cast<halyard_vgpu_kfd_door_t>(dlsym(driver, "halyard_vgpu_kfd_door"));
  ASSERT_NE(door, nullptr);
  ASSERT_NE(door(), nullptr);
  const link_map* map = nullptr;
  ASSERT_EQ(dlinfo(driver, RTLD_DI_LINKMAP, &map), 0);
  void* const c_library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(c_library, nullptr);
  for (const char* const name : {"mmap", "munmap", "mprotect", "ioctl"}) {
    ASSERT_NE(dlsym(RTLD_DEFAULT, name), dlsym(c_library, name)) << "the hooks are not preloaded";
    EXPECT_EQ(imported_function(*map, name), dlsym(c_library, name)) << name;
  }
}

// As a sanitizer's runtime does, before all constructors and before the C library has the
// environment.
bool had_environment = true;
bool found_a_folder = false;
void call_a_hook_early() {
  had_environment = environ != nullptr;
  found_a_folder = access("/", F_OK) == 0;
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const kEarly)() = call_a_hook_early;

TEST(Preload, ACallBeforeThereIsAnEnvironmentDoesNotTurnTheHooksOff) {
  ASSERT_FALSE(had_environment) << "the function that calls early was not called early";
  EXPECT_TRUE(found_a_folder);
  struct stat state = {};
  ASSERT_EQ(stat("/dev/kfd", &state), 0);
  EXPECT_TRUE(S_ISCHR(state.st_mode));
}

}  // namespace
}  // namespace halyard::vgpu::kfd
