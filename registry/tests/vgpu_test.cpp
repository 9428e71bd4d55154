// What load_virtual_gpu does stays in the process for good, so each case has a process of its own.

#include "registry/vgpu.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "registry/registry.h"
#include "temporary_folder.h"

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScopedVariable;
using ::testing::StartsWith;
using testing::TemporaryFolder;

const std::string kPrefix = HALYARD_TEST_FAKE_VGPU;
const std::string kFolder = kPrefix + "/lib/halyard/vgpu";
const std::string kVendor = kPrefix + "/vendor";
constexpr const char* kLibrary = "libhalyard-kfd.so.0";

// The text that `work` returns in a process of its own.
std::string in_child(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "pipe fails";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string text = work();
    const bool written = write(ends[1], text.data(), text.size()) == std::ssize(text);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char block[4096];
  for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) text += " [the process has crashed]";
  return text;
}

std::string load(const char* profile, const std::string& prefix = kPrefix) {
  const Status status = load_virtual_gpu(profile, {.installation = prefix});
  return status.ok() ? "OK" : status.to_string();
}

// One after the other.
std::string load_both(const char* first, const char* second) {
  std::string text = load(first) + "; ";
  return text + load(second);
}

TEST(VirtualGpuTest, IsLoadedUnderItsSonameAndOutOfTheGlobalScope) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (virtual_gpu_loaded()) return "loaded too early";
              if (const std::string result = load("gfx900"); result != "OK") return result;
              if (!virtual_gpu_loaded()) return "not loaded";
              if (dlsym(RTLD_DEFAULT, "halyard_vgpu_configure") != nullptr) return "global";
              if (dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD) == nullptr) return "no soname";
              return "good";
            }),
            "good");
}

TEST(VirtualGpuTest, TheSameProfileTwiceIsNothingNew) {
  EXPECT_EQ(in_child([] { return load_both("gfx900", "gfx900"); }), "OK; OK");
}

TEST(VirtualGpuTest, AnotherProfileIsRefused) {
  EXPECT_THAT(
      in_child([] { return load_both("gfx900", "gfx906"); }),
      AllOf(StartsWith("OK; FAILED_PRECONDITION"), HasSubstr("(gfx900)"), HasSubstr("(gfx906)")));
  EXPECT_THAT(in_child([] { return load_both("", "gfx906"); }), HasSubstr("(default)"));
}

TEST(VirtualGpuTest, WithoutAProfileTheVariableChoosesIt) {
  const ScopedVariable variable("HALYARD_VGPU_PROFILE", "gfx906");
  EXPECT_EQ(in_child([] { return load_both("", "gfx906"); }), "OK; OK");
  EXPECT_THAT(in_child([] { return load_both("", "gfx908"); }),
              AllOf(StartsWith("OK; FAILED_PRECONDITION"), HasSubstr("(gfx906)")));
  EXPECT_THAT(in_child([] { return load_both("gfx908", ""); }),
              AllOf(StartsWith("OK; FAILED_PRECONDITION"), HasSubstr("(gfx906)")));
  const ScopedVariable wrong("HALYARD_VGPU_PROFILE", "nonsense");
  EXPECT_EQ(in_child([] { return load_both("", "gfx900"); }),
            "INVALID_ARGUMENT: The profile of HALYARD_VGPU_PROFILE (nonsense): There is no profile "
            "(nonsense).; OK");
}

TEST(VirtualGpuTest, ARefusedProfileIsSaidInTheLibrarysWordsAndMayBeMended) {
  EXPECT_EQ(in_child([] { return load_both("nonsense", "gfx900"); }),
            "INVALID_ARGUMENT: There is no profile (nonsense).; OK");
  EXPECT_THAT(in_child([] { return load("silent"); }), HasSubstr("(silent) with 9 and no message"));
  EXPECT_THAT(in_child([] { return load("throws"); }), HasSubstr("threw an exception"));
}

TEST(VirtualGpuTest, AMissingLibraryListsThePathsTried) {
  const TemporaryFolder folder;
  EXPECT_THAT(in_child([&] { return load("gfx900", folder.path()); }),
              AllOf(StartsWith("NOT_FOUND"), HasSubstr("HALYARD_VGPU_PATH"),
                    HasSubstr(folder.path() + "/lib/halyard/vgpu/" + kLibrary + ": "),
                    HasSubstr("No such file or directory")));
}

TEST(VirtualGpuTest, TheVariableNamesAFolderOrTheFile) {
  const TemporaryFolder folder;
  for (const std::string& path : {kFolder, kFolder + "/" + kLibrary}) {
    const ScopedVariable variable("HALYARD_VGPU_PATH", path);
    EXPECT_EQ(in_child([&] { return load("gfx900", folder.path()); }), "OK") << path;
  }
  const ScopedVariable variable("HALYARD_VGPU_PATH", folder / "none");
  EXPECT_THAT(in_child([&] { return load("gfx900"); }),
              AllOf(StartsWith("NOT_FOUND"), HasSubstr(folder / "none"), Not(HasSubstr(kFolder))));
}

TEST(VirtualGpuTest, ABrokenLibraryIsRefused) {
  const TemporaryFolder folder;
  folder.add_file(std::string("lib/halyard/vgpu/") + kLibrary, "text");
  EXPECT_THAT(in_child([&] { return load("gfx900", folder.path()); }),
              HasSubstr("not an ELF file"));
}

TEST(VirtualGpuTest, ALibraryThatIsNotTheVirtualGpuIsRefusedAndDoesNotStay) {
  const ScopedVariable variable("HALYARD_VGPU_PATH", kVendor + "/libhsa-runtime64.so.1");
  EXPECT_THAT(in_child([]() -> std::string {
                const std::string result = load("gfx900");
                const bool stays =
                    dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr;
                return result + (stays ? " STAYS" : "");
              }),
              AllOf(StartsWith("FAILED_PRECONDITION"), HasSubstr("halyard_vgpu_configure"),
                    HasSubstr("HALYARD_VGPU_PATH"), Not(HasSubstr("STAYS"))));
}

TEST(VirtualGpuTest, AProcessWithTheVendorsRuntimeIsRefused) {
  EXPECT_THAT(in_child([]() -> std::string {
                if (!dlopen((kVendor + "/libhsa-runtime64.so.1").c_str(), RTLD_NOW)) {
                  return "no fake";
                }
                return load("gfx900");
              }),
              AllOf(StartsWith("FAILED_PRECONDITION"), HasSubstr("libhsa-runtime64.so.1"),
                    HasSubstr(kVendor)));
}

std::string load_below(const std::string& runtime) {
  const Status status = load_virtual_gpu("gfx900", {.installation = kPrefix, .runtime = runtime});
  return status.ok() ? virtual_gpu_library() : status.to_string();
}

// Below a runtime that cannot be had there is none; the next call may name another.
TEST(VirtualGpuTest, IsPutBelowTheRuntimeThatIsNamed) {
  EXPECT_EQ(in_child([] {
              std::string text = load_below("/no/such") + "; ";
              return text += load_below("");
            }),
            "UNAVAILABLE: There is no runtime (/no/such).; " + kFolder + "/" + kLibrary);
  EXPECT_THAT(in_child([] { return load_below(kVendor); }),
              HasSubstr("(" + kVendor + "/libhsa-runtime64.so.1)"));
  const ScopedVariable variable("HALYARD_LIBHSA_PATH", kVendor + "/libhsa-runtime64.so.1");
  EXPECT_THAT(in_child([] { return load_below(""); }),
              HasSubstr("(" + kVendor + "/libhsa-runtime64.so.1)"));
}

TEST(VirtualGpuTest, AProfileWithANulIsRefused) {
  EXPECT_EQ(load_virtual_gpu(std::string_view("a\0b", 3)).code(), StatusCode::kInvalidArgument);
}

TEST(VirtualGpuTest, OnceItIsLoadedErrorsDoNotSuggestIt) {
  EXPECT_THAT(in_child([]() -> std::string {
                if (load("gfx900") != "OK") return "not loaded";
                RegistryOptions options;
                options.discovery.plugin_paths = {std::string(HALYARD_TEST_BROKEN_PLUGINS) +
                                                  "/no_devices.so"};
                options.discovery.use_environment = false;
                options.discovery.use_installation = false;
                return Registry::create(options)->open_device("no_devices").status().to_string();
              }),
              AllOf(HasSubstr("finds no device"), Not(HasSubstr("--vgpu"))));
}

}  // namespace
}  // namespace halyard
