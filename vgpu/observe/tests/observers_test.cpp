#include "vgpu/observe/observers.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace halyard::vgpu::observe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ObserversTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"HALYARD_VGPU_TRACE", "HALYARD_VGPU_COUNTS", "HALYARD_VGPU_CHECK",
                             "HALYARD_VGPU_CHECKS"}) {
      unsetenv(name);
    }
  }
  Settings from_environment() {
    Settings settings;
    EXPECT_TRUE(Settings::from_environment(settings, error)) << error;
    return settings;
  }
  std::string error;
};

TEST_F(ObserversTest, NobodyWatchesUnlessAsked) {
  const auto observers =
      Observers::create(from_environment(), nullptr, [](std::string_view) {}, error);
  ASSERT_TRUE(observers) << error;
  EXPECT_THAT(observers->list(), IsEmpty());
}

TEST_F(ObserversTest, EachVariableBringsItsObservers) {
  setenv("HALYARD_VGPU_TRACE", "/dev/null", 1);
  setenv("HALYARD_VGPU_COUNTS", "/dev/null", 1);
  setenv("HALYARD_VGPU_CHECK", "1", 1);
  const Settings settings = from_environment();
  EXPECT_TRUE(settings.checks.bounds && settings.checks.lds && settings.checks.coherence);
  EXPECT_EQ(settings.findings, "");
  const auto observers = Observers::create(settings, nullptr, [](std::string_view) {}, error);
  ASSERT_TRUE(observers) << error;
  EXPECT_THAT(observers->list(), SizeIs(4));  // LDS and waits have one each
}

TEST_F(ObserversTest, ACheckOfZeroIsNone) {
  setenv("HALYARD_VGPU_CHECK", "0", 1);
  const Checks none = from_environment().checks;
  EXPECT_FALSE(none.bounds || none.lds || none.waits || none.coherence);
}

TEST_F(ObserversTest, ChecksAreChosenByName) {
  setenv("HALYARD_VGPU_CHECK", "1", 1);
  setenv("HALYARD_VGPU_CHECKS", "coherence,lds", 1);
  const Checks some = from_environment().checks;
  EXPECT_TRUE(some.coherence && some.lds);
  EXPECT_FALSE(some.bounds || some.waits);
}

TEST_F(ObserversTest, NotesAreAskedForByName) {
  const auto parse = [this](std::string_view list) {
    Checks checks;
    EXPECT_TRUE(Checks::parse(list, checks, error)) << list << ": " << error;
    return checks;
  };
  for (const char* list : {"", "all", "lds", "all,lds"}) EXPECT_FALSE(parse(list).notes) << list;
  const Checks lds = parse("lds,notes");
  EXPECT_TRUE(lds.notes && lds.lds);
  EXPECT_FALSE(lds.bounds || lds.waits || lds.atomics || lds.coherence || lds.races);
  for (const char* list : {"notes", "all,notes", "notes,all"}) {
    const Checks all = parse(list);
    EXPECT_TRUE(all.notes && all.bounds && all.lds && all.waits && all.atomics && all.coherence &&
                all.races)
        << list;
  }
}

TEST_F(ObserversTest, ACheckThatDoesNotExistIsAnErrorThatNamesThoseThatDo) {
  setenv("HALYARD_VGPU_CHECK", "1", 1);
  setenv("HALYARD_VGPU_CHECKS", "lds,coherent", 1);
  Settings settings;
  EXPECT_FALSE(Settings::from_environment(settings, error));
  EXPECT_THAT(error, HasSubstr("no check (coherent)"));
  EXPECT_THAT(error, HasSubstr("bounds, lds, waits, atomics, coherence and races"));
  EXPECT_THAT(error, HasSubstr("HALYARD_VGPU_CHECKS"));
}

TEST_F(ObserversTest, AFileThatCannotBeWrittenIsNamedWithItsVariable) {
  Settings settings;
  settings.counts = "/nonexistent/counts";
  EXPECT_FALSE(Observers::create(settings, nullptr, [](std::string_view) {}, error));
  EXPECT_THAT(error, HasSubstr("(/nonexistent/counts) cannot be written: No such file"));
  EXPECT_THAT(error, HasSubstr("HALYARD_VGPU_COUNTS"));
}

TEST_F(ObserversTest, TheFilesAreCheckedBeforeAnythingIsMade) {
  Settings settings;
  settings.trace = "/nonexistent/trace";
  EXPECT_FALSE(check_settings(settings, error));
  EXPECT_THAT(error, HasSubstr("(/nonexistent/trace) cannot be written: No such file"));
  EXPECT_THAT(error, HasSubstr("HALYARD_VGPU_TRACE"));
  settings.trace = "/dev/null";
  settings.counts = "/dev/null";
  EXPECT_TRUE(check_settings(settings, error));
}

TEST_F(ObserversTest, WhatAFullDiskTakesIsSaidOnce) {
  std::vector<std::string> losses;
  const auto file =
      OutputFile::open("/dev/full", [&](const std::string& why) { losses.push_back(why); }, error);
  ASSERT_TRUE(file) << error;
  file->append("");
  EXPECT_THAT(losses, IsEmpty());
  file->append("text");
  file->append("more");
  ASSERT_THAT(losses, SizeIs(1));
  EXPECT_THAT(losses[0], HasSubstr("(/dev/full) cannot be written"));
  EXPECT_THAT(losses[0], HasSubstr("No space left"));
}

}  // namespace
}  // namespace halyard::vgpu::observe
