// How a vendor's library is found, with libm standing in for it.
#include "plugins/sdk/vendor_runtime.h"
#include "plugins/sdk/tests/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace halyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVariable = "HALYARD_TEST_LIBRARY_PATH";
constexpr const char* kSonames[] = {"libhalyard-newer.so.2", "libhalyard-older.so.1"};

// `Symbol` is a function that the runtime cannot do without.
template <const char* const& Symbol>
class TestRuntime final : public VendorRuntime {
 public:
  static const VendorLibrary& library() {
    static constexpr VendorLibrary kLibrary = {.name = "TEST",
                                               .sonames = kSonames,
                                               .option = "libtest",
                                               .variable = kVariable,
                                               .package = "Debian: libtest",
                                               .address_space = 0};
    return kLibrary;
  }
  TestRuntime() : VendorRuntime(library()) {}

  double (*function)(double) = nullptr;
  double (*missing)(double) = nullptr;
  int starts = 0;
  std::string start_words;

 private:
  Status resolve() override {
    find("halyard_has_no_such_function", &missing);
    return require(Symbol, &function);
  }
  bool is_running() const override { return true; }
  std::string start() override {
    ++starts;
    return start_words;
  }
  std::string version_text() const override { return "1.2"; }
};

constexpr const char* kCosine = "cos";
constexpr const char* kMissing = "halyard_has_no_such_function";
using Runtime = TestRuntime<kCosine>;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/halyard-runtime-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(VendorRuntime, AFolderOrItsLibFolderHoldsTheLibraryTheNewerFirst) {
  const Folder folder;
  const Result<Runtime*> runtime = VendorRuntime::load<Runtime>(folder.path());
  ASSERT_FALSE(runtime.ok());
  EXPECT_EQ(runtime.status().code(), StatusCode::kUnavailable);
  const std::string text = message(runtime.status());
  size_t last = 0;
  for (const char* place : {"/libhalyard-newer.so.2: ", "/libhalyard-older.so.1: ",
                            "/lib/libhalyard-newer.so.2: ", "/lib/libhalyard-older.so.1: "}) {
    const size_t at = text.find("\n  " + folder.path() + place);
    ASSERT_NE(at, std::string::npos) << place << text;
    EXPECT_GT(at, last) << text;
    last = at;
  }
  EXPECT_THAT(text, HasSubstr("No such file or directory"));
  EXPECT_THAT(text, HasSubstr("The TEST runtime"));
  EXPECT_THAT(text, HasSubstr("libhalyard-newer.so.2 or libhalyard-older.so.1"));
  EXPECT_THAT(text, HasSubstr(kVariable));
}

TEST(VendorRuntime, APathThatIsGivenIsTheOnlyPlace) {
  setenv(kVariable, "libm.so.6", 1);
  const Result<Runtime*> runtime = VendorRuntime::load<Runtime>("/no/such/libtest.so");
  unsetenv(kVariable);
  ASSERT_FALSE(runtime.ok());
  EXPECT_THAT(message(runtime.status()), HasSubstr("the option libtest"));
  EXPECT_THAT(message(runtime.status()), HasSubstr("\n  /no/such/libtest.so: "));
  EXPECT_THAT(message(runtime.status()), Not(HasSubstr("libhalyard-newer.so.2: ")));
}

TEST(VendorRuntime, TheEnvironmentNamesTheLibrary) {
  setenv(kVariable, "/no/such/from-environment.so", 1);
  const Result<Runtime*> runtime = VendorRuntime::load<Runtime>("");
  unsetenv(kVariable);
  ASSERT_FALSE(runtime.ok());
  EXPECT_THAT(message(runtime.status()), HasSubstr("/no/such/from-environment.so: "));
  EXPECT_THAT(message(runtime.status()),
              HasSubstr(std::string("the environment variable ") + kVariable));
}

TEST(VendorRuntime, WithoutAPathTheLoaderSearchesForEachSoname) {
  const Result<Runtime*> runtime = VendorRuntime::load<Runtime>("");
  ASSERT_FALSE(runtime.ok());
  EXPECT_THAT(message(runtime.status()), HasSubstr("\n  libhalyard-newer.so.2: "));
  EXPECT_THAT(message(runtime.status()), HasSubstr("\n  libhalyard-older.so.1: "));
}

TEST(VendorRuntime, ALibraryWithoutAFunctionIsRefusedByName) {
  const auto runtime = VendorRuntime::load<TestRuntime<kMissing>>("libm.so.6");
  ASSERT_FALSE(runtime.ok());
  EXPECT_EQ(runtime.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(runtime.status()), HasSubstr("libm.so.6"));
  EXPECT_THAT(message(runtime.status()), HasSubstr(kMissing));
}

TEST(VendorRuntime, AFileThatIsNotALibraryIsRefused) {
  const Folder folder;
  std::ofstream(folder / kSonames[0]) << "not a library";
  const Result<Runtime*> runtime = VendorRuntime::load<Runtime>(folder.path());
  ASSERT_FALSE(runtime.ok());
  EXPECT_THAT(message(runtime.status()), HasSubstr(folder / kSonames[0]));
}

TEST(VendorRuntime, IsLoadedAndStartedOnce) {
  const Result<Runtime*> runtime = VendorRuntime::load<Runtime>("libm.so.6");
  ASSERT_TRUE(runtime.ok()) << runtime.status().to_string();
  Runtime& math = **runtime;
  EXPECT_EQ(math.function(0.0), 1.0);
  EXPECT_EQ(math.missing, nullptr);
  EXPECT_EQ(math.soname(), "libm.so.6");
  EXPECT_EQ(math.path().front(), '/');
  const Result<Runtime*> again = VendorRuntime::load<Runtime>(math.path());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, &math);

  EXPECT_EQ(math.version(), "");
  math.start_words = "no GPU";
  const Status first = math.initialise();
  const Status second = math.initialise();
  EXPECT_EQ(math.starts, 1);
  EXPECT_EQ(first.code(), StatusCode::kUnavailable);
  EXPECT_EQ(second.code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(second), HasSubstr("does not start: no GPU."));
  EXPECT_EQ(math.version(), "");
}

// A runtime lives as long as the process, so this one is a file of its own for each run.
// Is destroyed after all that a library has whose loading it saw. Ends the process with the answer.
struct MadeBeforeMain {
  ~MadeBeforeMain() {
    if (reports) _exit(VendorRuntime::process_ends() ? 7 : 8);
  }
  bool reports = false;
} made_before_main;

TEST(VendorRuntimeDeathTest, TellsWhatOutlivesItThatTheProcessEnds) {
  EXPECT_EXIT(
      {
        made_before_main.reports = true;
        const bool loaded = VendorRuntime::load<Runtime>("libm.so.6").ok();
        if (!loaded || VendorRuntime::process_ends()) _exit(9);
        std::exit(0);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_FALSE(VendorRuntime::process_ends());
}

// What is registered between two libraries runs after the second one's objects are destroyed.
TEST(VendorRuntimeDeathTest, TellsItBeforeTheObjectsOfALaterLibraryAreDestroyed) {
  const Result<Runtime*> math = VendorRuntime::load<Runtime>("libm.so.6");
  ASSERT_TRUE(math.ok()) << math.status().to_string();
  const Folder folder;
  std::filesystem::copy_file((*math)->path(), folder / kSonames[0]);
  EXPECT_EXIT(
      {
        std::atexit([] { _exit(VendorRuntime::process_ends() ? 7 : 8); });
        if (!VendorRuntime::load<Runtime>(folder.path()).ok()) _exit(9);
        std::exit(0);
      },
      testing::ExitedWithCode(7), "");
}

TEST(VendorRuntime, HasAVersionOnceItIsStarted) {
  const Result<Runtime*> math = VendorRuntime::load<Runtime>("libm.so.6");
  ASSERT_TRUE(math.ok()) << math.status().to_string();
  const Folder folder;
  std::filesystem::copy_file((*math)->path(), folder / kSonames[0]);
  const Result<Runtime*> copy = VendorRuntime::load<Runtime>(folder.path());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_EQ((*copy)->version(), "");
  EXPECT_TRUE((*copy)->initialise().ok());
  EXPECT_EQ((*copy)->version(), "1.2");
}

}  // namespace
}  // namespace halyard
