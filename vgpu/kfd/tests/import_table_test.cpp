// One library's imports are redirected, and nothing else.
#include "vgpu/kfd/import_table.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace halyard::vgpu::kfd {
namespace {

constexpr pid_t kOwn = 4242;

pid_t own_getppid() {
  return kOwn;
}

const Redirect kRedirects[] = {
    {"getppid", reinterpret_cast<void*>(&own_getppid)},
    {"not_imported_at_all", reinterpret_cast<void*>(&own_getppid)},
};

class Library {
 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_LAZY | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Library() { dlclose(handle_); }

  pid_t call(const char* name) const {
    const auto function = reinterpret_cast<pid_t (*)()>(dlsym(handle_, name));
    return function != nullptr ? function() : -1;
  }
  const link_map& map() const {
    link_map* found = nullptr;
    dlinfo(handle_, RTLD_DI_LINKMAP, &found);
    return *found;
  }

 private:
  void* handle_;
};

// Whether the program may write at an address.
bool is_writable(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0;
    uint64_t end = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, access) != 3)
      continue;
    if (address >= begin && address < end) return access[1] == 'w';
  }
  return false;
}

class ImportTable : public ::testing::TestWithParam<const char*> {};

TEST_P(ImportTable, CallsGoToTheOtherFunction) {
  const Library library(GetParam());
  EXPECT_EQ(library.call("call_directly"), getppid());
  std::string error;
  EXPECT_GE(redirect_imports(library.map(), kRedirects, error), 2) << error;
  EXPECT_EQ(library.call("call_directly"), kOwn);
  EXPECT_EQ(library.call("call_by_pointer"), kOwn);
  // Other imports, and other libraries, are left alone.
  EXPECT_EQ(library.call("call_another"), getpid());
  EXPECT_NE(getppid(), kOwn);
}

TEST_P(ImportTable, NothingToRedirectIsNoMistake) {
  const Library library(GetParam());
  std::string error;
  const Redirect none[] = {{"not_imported_at_all", reinterpret_cast<void*>(&own_getppid)}};
  EXPECT_EQ(redirect_imports(library.map(), none, error), 0);
  EXPECT_EQ(error, "");
}

INSTANTIATE_TEST_SUITE_P(Linked, ImportTable,
                         ::testing::Values(HALYARD_IMPORTS_NOW, HALYARD_IMPORTS_LAZY),
                         [](const auto& info) { return info.index == 0 ? "Now" : "Lazily"; });

TEST(ReadOnlyImportTable, IsReadOnlyAfterwards) {
  const Library library(HALYARD_IMPORTS_NOW);
  // The dynamic section is among what the loader makes read-only.
  const auto dynamic = reinterpret_cast<uintptr_t>(library.map().l_ld);
  ASSERT_FALSE(is_writable(dynamic));
  std::string error;
  ASSERT_GT(redirect_imports(library.map(), kRedirects, error), 0) << error;
  EXPECT_FALSE(is_writable(dynamic));
}

}  // namespace
}  // namespace halyard::vgpu::kfd
