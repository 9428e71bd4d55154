// The driver in a process that has the hooks preloaded, as `halyard vgpu exec` starts it.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "vgpu/kfd/abi.h"
#include "vgpu/kfd/door.h"
#include "vgpu/kfd/gpu_ids.h"
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
    void* const real = dlvsym(c_library, name, "GLIBC_2.2.5");
    ASSERT_NE(dlsym(RTLD_DEFAULT, name), real) << "the hooks are not preloaded";
    EXPECT_EQ(imported_function(*map, name), real) << name;
  }
}

// As Python's ctypes does: ctypes.CDLL("libc.so.6").mmap.
TEST(Preload, FunctionsThatAreTakenFromTheCLibraryAreTheHooks) {
  void* const c_library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(c_library, nullptr);
  for (const char* const name : {"mmap", "mmap64", "munmap", "mprotect", "ioctl", "open", "open64",
                                 "fopen", "stat", "close"})
    EXPECT_EQ(dlsym(c_library, name), dlsym(RTLD_DEFAULT, name)) << name;
  EXPECT_EQ(dlsym(c_library, "strlen"), dlvsym(c_library, "strlen", "GLIBC_2.2.5"));
  EXPECT_EQ(dlsym(c_library, "no_such_function"), nullptr);
  EXPECT_NE(dlerror(), nullptr);
  // Who comes next depends on the caller: behind this program the hooks come first.
  EXPECT_EQ(dlsym(RTLD_NEXT, "mmap"), dlsym(RTLD_DEFAULT, "mmap"));

  const auto map = reinterpret_cast<decltype(&mmap)>(dlsym(c_library, "mmap"));
  const int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  ASSERT_GE(kfd, 0);
  abi::AllocMemory memory = {};
  memory.size = 1 << 16;
  memory.gpu_id = gpu_id_of(0);
  memory.flags = abi::kGtt | abi::kWritable;
  void* const at = map(nullptr, memory.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  memory.address = reinterpret_cast<uintptr_t>(at);
  EXPECT_EQ(ioctl(kfd, abi::code<abi::AllocMemory>(abi::Request::kAllocMemoryOfGpu), &memory), 0);
  abi::FreeMemory handle = {};
  handle.handle = memory.handle;
  EXPECT_EQ(ioctl(kfd, abi::code<abi::FreeMemory>(abi::Request::kFreeMemoryOfGpu), &handle), 0);
  munmap(at, memory.size);
  close(kfd);
}

// A number that was a device's is what it is now.
TEST(Preload, ADescriptorIsADeviceAsLongAsItIsOne) {
  const int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  ASSERT_GE(kfd, 0);
  const auto answers = [](int file) {
    abi::Version version;
    return ioctl(file, abi::code<abi::Version>(abi::Request::kGetVersion, _IOC_READ), &version) ==
           0;
  };
  EXPECT_TRUE(answers(kfd));
  const int other = dup(kfd);
  EXPECT_TRUE(answers(other));
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  dup2(file, other);
  EXPECT_FALSE(answers(other));
  EXPECT_TRUE(answers(kfd));
  dup3(kfd, file, O_CLOEXEC);
  EXPECT_TRUE(answers(file));
  close(file);
  EXPECT_FALSE(answers(file));
  const int again = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(again, file);
  EXPECT_FALSE(answers(again));
  dup2(kfd, 100);
  EXPECT_TRUE(answers(100));
  close_range(100, 100, 0);
  EXPECT_FALSE(answers(100));
  dup2(kfd, 100);
  EXPECT_TRUE(answers(100));
  FILE* const stream = fdopen(100, "r");
  ASSERT_NE(stream, nullptr);
  fclose(stream);
  EXPECT_FALSE(answers(100));
  for (const int one : {kfd, other, again}) close(one);
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

// By a program's own calls, by streams, and from another process.
TEST(Preload, MemoryInUseIsToldToEveryProcess) {
  const std::string path = "/sys/class/drm/card0/device/mem_info_vram_used";
  const auto used = [&path] {
    uint64_t bytes = 0;
    std::ifstream(path) >> bytes;
    return bytes;
  };
  const int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  ASSERT_GE(kfd, 0);
  const uint64_t before = used();
  constexpr uint64_t kBytes = uint64_t{4} << 20;
  void* const at = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  abi::AllocMemory memory = {};
  memory.address = reinterpret_cast<uintptr_t>(at);
  memory.size = kBytes;
  memory.gpu_id = gpu_id_of(0);
  memory.flags = abi::kVram;
  ASSERT_EQ(ioctl(kfd, abi::code<abi::AllocMemory>(abi::Request::kAllocMemoryOfGpu), &memory), 0);
  EXPECT_GE(used(), before + kBytes);

  const int file = open(path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  char text[32] = "";
  EXPECT_GT(read(file, text, sizeof text - 1), 0);
  close(file);
  EXPECT_GE(std::stoull(text), before + kBytes);

  FILE* const other = popen(("cat " + path).c_str(), "r");
  ASSERT_NE(other, nullptr);
  unsigned long long told = 0;
  EXPECT_EQ(fscanf(other, "%llu", &told), 1);
  EXPECT_EQ(pclose(other), 0);
  EXPECT_GE(told, before + kBytes);

  abi::FreeMemory handle = {};
  handle.handle = memory.handle;
  EXPECT_EQ(ioctl(kfd, abi::code<abi::FreeMemory>(abi::Request::kFreeMemoryOfGpu), &handle), 0);
  close(kfd);
}

// The nodes of each GPU are beside its card.
TEST(Preload, TheParentOfALinkIsTheParentOfItsTarget) {
  char target[256] = "";
  ASSERT_GT(readlink("/sys/class/drm/card0", target, sizeof target - 1), 0);
  EXPECT_STREQ(target, "../../devices/virtual/pci/0000:03:00.0/drm/card0");
  struct stat state = {};
  EXPECT_EQ(stat("/sys/class/drm/card0/../renderD128", &state), 0);
  EXPECT_NE(stat("/sys/class/drm/card0/../version", &state), 0);
  char resolved[4096] = "";
  ASSERT_NE(realpath("/sys/class/drm/card0/../../vendor", resolved), nullptr);
  EXPECT_STREQ(resolved, "/sys/devices/virtual/pci/0000:03:00.0/vendor");
}

// A program may be started without its output, or close it.
TEST(Preload, NoDescriptorOfTheDriversBecomesTheOutput) {
  EXPECT_EQ(WEXITSTATUS(std::system("sh -c '[ -e /proc/self/fd/1 ] && exit 9' >&-")), 9);
  EXPECT_NE(WEXITSTATUS(std::system("sh -c 'echo lost' >&- 2>&-")), 0);
  const int output = dup(STDOUT_FILENO);
  ASSERT_GE(output, 0);
  close(STDOUT_FILENO);
  const int device = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  const int flags = fcntl(device, F_GETFD);
  errno = 0;
  const ssize_t written = write(STDOUT_FILENO, "lost", 4);
  const int why = errno;
  const int live = open("/sys/class/drm/card0/device/mem_info_vram_used", O_RDONLY);
  dup2(output, STDOUT_FILENO);
  close(output);
  EXPECT_GT(device, STDERR_FILENO);
  EXPECT_EQ(flags, FD_CLOEXEC);
  EXPECT_EQ(written, -1);
  EXPECT_EQ(why, EBADF);
  EXPECT_GT(live, STDERR_FILENO);
  close(device);
  close(live);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
