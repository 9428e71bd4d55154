// Which layer wins, what each setting's origin is, and which places are not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config/settings/reader.h"
#include "config/settings/settings.h"
#include "registry/tests/temporary_folder.h"

namespace halyard::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScopedVariable;
using testing::TemporaryFolder;

class LayersTest : public ::testing::Test {
 protected:
  LayersTest() {
    sources_.installation = folder_ / "prefix";
    sources_.system_folder = folder_ / "etc";
    sources_.user_folder = folder_ / "user";
    sources_.privileged = false;
  }
  Settings load() {
    Result<Settings> settings = Settings::load(sources_);
    EXPECT_TRUE(settings.ok()) << settings.status().to_string();
    return settings.ok() ? *settings : Settings();
  }
  std::string error() {
    const Result<Settings> settings = Settings::load(sources_);
    EXPECT_FALSE(settings.ok());
    return settings.ok() ? "" : std::string(settings.status().message().view());
  }
  static std::string place(const Settings& settings, std::string_view path) {
    return settings.find(path)->value().origin.place;
  }

  TemporaryFolder folder_;
  SettingsSources sources_;
  // Those of the person who runs the test.
  ScopedVariable log_level_{"HALYARD_LOG_LEVEL", ""};
  ScopedVariable validation_{"HALYARD_VALIDATION", ""};
  ScopedVariable plugins_{"HALYARD_PLUGIN_PATH", ""};
};

TEST_F(LayersTest, EachLayerOverridesTheOneBefore) {
  EXPECT_EQ(load().text("logging.level"), "note");
  EXPECT_EQ(place(load(), "logging.level"), "built in");
  const std::string b = folder_.add_file("etc/b.yaml", "logging: {level: error}\n");
  folder_.add_file("etc/a.yaml", "logging: {level: note}\nvalidation: {level: none}\n");
  EXPECT_EQ(load().text("logging.level"), "error");
  EXPECT_EQ(place(load(), "logging.level"), b + ":1:18");
  const std::string user = folder_.add_file("user/c.yaml", "logging:\n  level: warning\n");
  EXPECT_EQ(load().text("logging.level"), "warning");
  EXPECT_EQ(place(load(), "logging.level"), user + ":2:10");
  const std::string file = folder_.add_file("mine.yaml", "logging: {level: note}\n");
  sources_.files = {file};
  EXPECT_EQ(place(load(), "logging.level"), file + ":1:18");
  const ScopedVariable variable("HALYARD_LOG_LEVEL", "error");
  EXPECT_EQ(load().text("logging.level"), "error");
  EXPECT_EQ(place(load(), "logging.level"), "HALYARD_LOG_LEVEL");
  EXPECT_EQ(load().text("validation.level"), "none") << "of the first file, which nobody overrides";
}

TEST_F(LayersTest, AFlagOverridesAllOthers) {
  const ScopedVariable variable("HALYARD_LIBHSA_PATH", "/of/the/variable");
  EXPECT_EQ(load().text("drivers.amdgpu.libhsa"), "/of/the/variable");
  sources_.flags = {{"drivers.amdgpu.libhsa", "/of/the/flag"}};
  EXPECT_EQ(load().text("drivers.amdgpu.libhsa"), "/of/the/flag");
  EXPECT_EQ(place(load(), "drivers.amdgpu.libhsa"), "--libhsa");
}

TEST_F(LayersTest, PathsOfLaterLayersComeFirstAndAreThoseOfTheFile) {
  folder_.add_file("etc/a.yaml", "plugins: {paths: [one, /two]}\n");
  folder_.add_file("user/b.yaml", "plugins: {paths: [../three]}\n");
  const ScopedVariable variable("HALYARD_PLUGIN_PATH", "/four::/five");
  sources_.flags = {{"plugins.paths", "six"}, {"plugins.paths", "/seven"}};
  std::vector<std::string> paths;
  const Settings settings = load();
  for (const Value& value : settings.find("plugins.paths")->values) paths.push_back(value.text);
  EXPECT_THAT(paths, ElementsAre("six", "/seven", "/four", "/five", folder_ / "three",
                                 folder_ / "etc/one", "/two"));
}

TEST_F(LayersTest, LibrariesAndProfilesAreRelativeToTheFileIfTheyArePaths) {
  folder_.add_file("etc/a.yaml",
                   "drivers: {amdgpu: {libhsa: lib/x}, hip: {libhip: libamdhip64.so.5}}\n"
                   "vgpu: {profile: my.yaml}\n"
                   "virtual_gpus: {a: {profile: mi210}, b: {profile: \"./c.yaml\"}}\n");
  const Settings settings = load();
  EXPECT_EQ(settings.text("drivers.amdgpu.libhsa"), folder_ / "etc/lib/x");
  EXPECT_EQ(settings.text("drivers.hip.libhip"), "libamdhip64.so.5");
  EXPECT_EQ(settings.text("vgpu.profile"), folder_ / "etc/my.yaml");
  EXPECT_EQ(settings.text("virtual_gpus.a.profile"), "mi210");
  EXPECT_EQ(settings.text("virtual_gpus.b.profile"), folder_ / "etc/c.yaml");
}

TEST_F(LayersTest, AProcessorsFileIsTheFirstLayer) {
  const std::string file = folder_.add_file("prefix/share/halyard/config/devices/gfx90a.yaml",
                                            "tolerances: {f32: {absolute: 0.25}}\n");
  folder_.add_file("prefix/share/halyard/config/devices/default.yaml",
                   "tolerances: {f32: {absolute: 0.5}}\n");
  const auto absolute = [&](std::string_view processor) {
    return load().of_processor(processor, "tolerances.f32.absolute")->value();
  };
  EXPECT_EQ(absolute("gfx90a").real, 0.25);
  EXPECT_EQ(absolute("gfx90a").origin.place, file + ":1:30");
  EXPECT_EQ(absolute("gfx900").real, 0.5);
  // A later layer wins, also with what it says of all processors.
  folder_.add_file("etc/a.yaml", "processors: {default: {tolerances: {f32: {absolute: 1}}}}\n");
  EXPECT_EQ(absolute("gfx90a").real, 1);
  folder_.add_file("prefix/share/halyard/config/devices/other.yaml", "");
  EXPECT_THAT(error(), HasSubstr("other.yaml: The file's name (other) must be default or a "));
}

TEST_F(LayersTest, MistakesOfAllLayersAreReportedAtOnce) {
  const std::string a = folder_.add_file("etc/a.yaml", "logging: {level: loud}\n");
  const std::string b = folder_.add_file("user/b.yaml", "loging: {}\n");
  const ScopedVariable variable("HALYARD_VALIDATION", "nome");
  sources_.files = {folder_ / "missing.yaml"};
  EXPECT_THAT(
      error(),
      AllOf(HasSubstr(a + ":1:18: logging.level (loud)"), HasSubstr(b + ":1:1: "),
            HasSubstr("missing.yaml: The file cannot be opened"),
            HasSubstr("HALYARD_VALIDATION: validation.level (nome) is unknown, did you mean "
                      "none?; it must be one of: full, none.")));
}

TEST_F(LayersTest, ANameMayNotStandForAnotherName) {
  folder_.add_file("etc/a.yaml", "devices: {a: amdgpu}\n");
  folder_.add_file("user/b.yaml", "devices: {b: [hip, a]}\n");
  EXPECT_THAT(error(), HasSubstr("b.yaml:1:20: devices.b (a) names another name"));
}

TEST_F(LayersTest, OnlyFilesThatAreCalledYamlAreRead) {
  folder_.add_file("etc/readme.txt", "no config");
  folder_.add_file("etc/a.yml", "logging: {level: error}\n");
  const Settings settings = load();
  EXPECT_EQ(settings.text("logging.level"), "note");
  EXPECT_THAT(settings.warnings(), ElementsAre(HasSubstr("a.yml: The file is not read")));
}

TEST_F(LayersTest, TheUsersFolderComesFromTheEnvironment) {
  sources_.user_folder.reset();
  folder_.add_file("config/halyard/a.yaml", "logging: {level: error}\n");
  folder_.add_file("home/.config/halyard/a.yaml", "logging: {level: warning}\n");
  const ScopedVariable home("HOME", folder_ / "home");
  {
    const ScopedVariable xdg("XDG_CONFIG_HOME", folder_ / "config");
    EXPECT_EQ(load().text("logging.level"), "error");
  }
  for (const char* const ignored : {"", "config"}) {
    const ScopedVariable xdg("XDG_CONFIG_HOME", ignored);
    EXPECT_EQ(load().text("logging.level"), "warning");
  }
}

TEST_F(LayersTest, APrivilegedProcessTakesNothingFromItsCallersEnvironment) {
  sources_.user_folder.reset();
  folder_.add_file("config/halyard/a.yaml", "logging: {level: error}\n");
  const ScopedVariable xdg("XDG_CONFIG_HOME", folder_ / "config");
  const ScopedVariable level("HALYARD_VALIDATION", "none");
  EXPECT_EQ(load().text("logging.level"), "error");
  EXPECT_EQ(load().text("validation.level"), "none");
  sources_.privileged = true;
  EXPECT_EQ(load().text("logging.level"), "note");
  EXPECT_EQ(load().text("validation.level"), "full");
}

TEST_F(LayersTest, APlaceThatOthersMayWriteToIsReportedOrRefused) {
  const std::string file = folder_.add_file("etc/a.yaml", "logging: {level: error}\n");
  const std::string etc = folder_ / "etc";
  ASSERT_EQ(chmod(etc.c_str(), 0755), 0);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_THAT(load().warnings(), IsEmpty());
  sources_.privileged = true;
  EXPECT_EQ(load().text("logging.level"), "error");

  for (const std::string& path : {etc, file}) {
    ASSERT_EQ(chmod(path.c_str(), 0777), 0);
    sources_.privileged = false;
    EXPECT_THAT(load().warnings(),
                ElementsAre(HasSubstr("every user of this machine can write to " + path)));
    EXPECT_EQ(load().text("logging.level"), "error");
    sources_.privileged = true;
    EXPECT_THAT(error(), AllOf(HasSubstr(path + ": This process has more privileges"),
                               HasSubstr("chmod o-w")));
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  }
  ASSERT_EQ(chmod(file.c_str(), 0664), 0);
  EXPECT_THAT(error(), HasSubstr("the group"));
}

TEST_F(LayersTest, WhatIsShownIsAConfigThatSaysTheSame) {
  folder_.add_file("etc/a.yaml",
                   "plugins: {paths: [/a b, \"/c\\\"d\", \"/e\\n\"]}\n"
                   "drivers: {x: {enabled: false, options: {a: \"yes\", b: \"\", c: \"1\"}}}\n"
                   "devices: {t: \"amdgpu:0?a=b&c=%20\", g: [hip, \"hip:1\"]}\n"
                   "processors: {gfx900: {tolerances: {f32: {absolute: 1e-5}}}}\n"
                   "virtual_gpus: {a-b: {profile: x, memory_size: 1.5GiB}, a: {profile: y}}\n");
  const Settings settings = load();
  for (const bool origins : {false, true}) {
    const std::string text = to_yaml(settings.all(), origins);
    Diagnostics diagnostics;
    SettingMap again;
    ASSERT_TRUE(read_config_text(text, "/shown.yaml", {}, diagnostics, again))
        << diagnostics.text() << "\n"
        << text;
    ASSERT_EQ(again.size(), settings.all().size());
    for (const auto& [path, setting] : settings.all()) {
      ASSERT_EQ(again.at(path).values.size(), setting.values.size()) << path;
      for (size_t i = 0; i < setting.values.size(); ++i) {
        EXPECT_EQ(again.at(path).values[i].text, setting.values[i].text);
      }
    }
    EXPECT_EQ(text.find("# built in") != std::string::npos, origins);
    EXPECT_EQ(text.find("/etc/a.yaml:2:24") != std::string::npos, origins);
  }
}

}  // namespace
}  // namespace halyard::config
