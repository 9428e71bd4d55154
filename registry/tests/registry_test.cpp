#include "registry/registry.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "temporary_folder.h"

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TemporaryFolder;

const std::string kBroken = HALYARD_TEST_BROKEN_PLUGINS;
const std::string kLibcxx = HALYARD_TEST_LIBCXX_PLUGINS;
const std::string kHostMemory = HALYARD_TEST_HOST_MEMORY;

std::unique_ptr<Registry> registry_of(std::vector<std::string> paths,
                                      std::vector<DriverOption> driver_options = {}) {
  RegistryOptions options;
  options.discovery = {
      .plugin_paths = std::move(paths), .use_environment = false, .use_installation = false};
  options.driver_options = std::move(driver_options);
  return Registry::create(options);
}

std::vector<std::string> names_of(const std::vector<LoadedDriver>& drivers) {
  std::vector<std::string> names;
  for (const LoadedDriver& driver : drivers) names.push_back(driver.name);
  return names;
}

TEST(RegistryTest, BrokenPluginsDoNotHideTheOthers) {
  const auto registry = registry_of({kBroken, kHostMemory});
  EXPECT_THAT(names_of(registry->drivers()),
              ElementsAre("enumerate_error", "enumerate_throws", "host_memory", "newer_minor",
                          "no_devices", "open_throws"));
  EXPECT_TRUE(registry->open_device("host_memory").ok());
  const LoadReport report = registry->report();
  EXPECT_EQ(report.candidates.size(), 24u);
  for (const Candidate& candidate : report.candidates) EXPECT_TRUE(candidate.tried);
}

TEST(RegistryTest, AMalformedUriListsTheDevicesThereAre) {
  const auto registry = registry_of({kHostMemory});
  for (const char* const uri : {"host_memory://0,0", "host_memory://0,,1", "host_memory:",
                                "Host_memory", "host_memory://0,hip:1", "host_memory?a=1&a=2"}) {
    const Result<Ref<Device>> opened = registry->open_device(uri);
    EXPECT_EQ(opened.status().code(), StatusCode::kInvalidArgument) << uri;
    EXPECT_THAT(opened.status().to_string(),
                AllOf(HasSubstr("is malformed at character "),
                      HasSubstr(" There are host_memory:0 (Host memory (no GPU")))
        << uri;
    EXPECT_EQ(registry->open_devices(uri).status().message().view(),
              opened.status().message().view());
  }
  EXPECT_THAT(registry_of({})->open_device("Host_memory").status().to_string(),
              HasSubstr(" There is no device."));
}

TEST(RegistryTest, ADeviceOutlivesItsRegistry) {
  Ref<Device> device;
  {
    Result<Ref<Device>> opened = registry_of({kHostMemory})->open_device("host_memory:0");
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    device = *opened;
  }
  EXPECT_EQ(device->info().driver.view(), "host_memory");
  EXPECT_TRUE(device->allocate(16).ok());
}

TEST(RegistryTest, OnlyWhatIsNeededIsOpened) {
  const TemporaryFolder folder;
  folder.add_file("libhalyard_driver_hip.so", "not opened");
  folder.add_copy("libhalyard_driver_host_memory.so", kHostMemory);
  folder.add_file("libzzz.so", "comes later");
  const auto registry = registry_of({folder.path()});
  ASSERT_TRUE(registry->open_device("host_memory").ok());
  const LoadReport so_far = registry->report_so_far();
  ASSERT_EQ(so_far.candidates.size(), 3u);
  EXPECT_FALSE(so_far.candidates[0].tried);
  EXPECT_TRUE(so_far.candidates[1].tried);
  EXPECT_FALSE(so_far.candidates[2].tried);
  for (const Candidate& candidate : registry->report().candidates) EXPECT_TRUE(candidate.tried);
}

TEST(RegistryTest, TheFirstOfANameWinsAndTheSecondIsReported) {
  const TemporaryFolder folder;
  const std::string first = folder.add_copy("1/libmine.so", kHostMemory);
  const std::string second = folder.add_copy("2/libhalyard_driver_host_memory.so", kHostMemory);
  for (const bool all_first : {false, true}) {
    const auto registry = registry_of({folder / "1", folder / "2"});
    if (all_first) registry->report();
    const Result<LoadedDriver> driver = registry->driver("host_memory");
    ASSERT_TRUE(driver.ok());
    EXPECT_EQ(driver->path, first);
    const LoadReport report = registry->report();
    EXPECT_EQ(report.candidates[1].path, second);
    EXPECT_EQ(report.candidates[1].stage, LoadStage::kNegotiated);
    EXPECT_THAT(report.candidates[1].reason, HasSubstr("taken by " + first));
  }
}

TEST(RegistryTest, ADriverThatCannotStartLeavesItsNameToTheNext) {
  const TemporaryFolder folder;
  folder.add_file("1/libhalyard_driver_host_memory.so", "broken");
  const std::string good = folder.add_copy("2/libhalyard_driver_host_memory.so", kHostMemory);
  const auto registry = registry_of({folder / "1", folder / "2"});
  const Result<LoadedDriver> driver = registry->driver("host_memory");
  ASSERT_TRUE(driver.ok());
  EXPECT_EQ(driver->path, good);
}

TEST(RegistryTest, AnUnknownDriverGivesNamesAGuessAndTheWholeReport) {
  const auto registry = registry_of({kHostMemory, kBroken + "/not_elf.so", "/no/such/folder"});
  const Status status = registry->open_device("host_memry").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(
      status.to_string(),
      AllOf(HasSubstr("There is no driver (host_memry)"), HasSubstr("The drivers are: host_memory"),
            HasSubstr("Did you mean \"host_memory\"?"), HasSubstr("--plugin-path"),
            HasSubstr("/no/such/folder (plugin path): there is no such"), HasSubstr("not_elf.so"),
            HasSubstr("is not an ELF file"), HasSubstr("enumerated: 1 device")));
}

TEST(RegistryTest, NoPluginFolderIsSaid) {
  const TemporaryFolder folder;
  RegistryOptions options;
  options.discovery.use_environment = false;
  options.discovery.installation = folder.path();
  const Status status = Registry::create(options)->open_device("amdgpu").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("There is no driver (amdgpu). The drivers are: none."),
                    HasSubstr(folder.path() + "/lib/halyard/plugins (installation): there is no"),
                    HasSubstr("Plugins:\n  none")));
}

TEST(RegistryTest, NoDeviceMentionsTheVirtualGpuAndTheReport) {
  const auto registry = registry_of({kBroken});
  for (const char* uri : {"no_devices", "no_devices:0", "create_error", "enumerate_error"}) {
    const Status status = registry->open_device(uri).status();
    EXPECT_THAT(status.to_string(), AllOf(HasSubstr("--vgpu"), HasSubstr("Plugins:\n")));
  }
  EXPECT_EQ(registry->open_device("no_devices").status().code(), StatusCode::kNotFound);
  const Status refused = registry->open_device("create_error").status();
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_THAT(refused.to_string(),
              HasSubstr("create_error cannot be used: The vendor library is not found."));
}

TEST(RegistryTest, ADriverFileThatIsBrokenSaysSoWithItsOwnReason) {
  const TemporaryFolder folder;
  folder.add_file("libhalyard_driver_amdgpu.so", "text");
  const Status status = registry_of({folder.path()})->open_device("amdgpu").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("The driver amdgpu cannot be used: The file is not an ELF file"),
                    Not(HasSubstr("--vgpu"))));
}

TEST(RegistryTest, ADeviceThatIsNotThereListsThoseThatAreAndTheReport) {
  const auto registry = registry_of({kHostMemory});
  for (const char* uri : {"host_memory:7", "host_memory://GPU-1"}) {
    const Status status = registry->open_device(uri).status();
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_THAT(status.to_string(), AllOf(HasSubstr("It has host_memory:0 (Host memory"),
                                          HasSubstr("Plugins:\n"), Not(HasSubstr("--vgpu"))));
  }
}

TEST(RegistryTest, OptionsOfTheUriAndOfTheCallReachTheDevice) {
  const auto registry = registry_of({kBroken + "/open_throws.so"});
  const Option extra[] = {{"b", "call"}, {"d", "4"}};
  const Status status = registry->open_device("open_throws:2?a=1&b=uri&c=%20", extra).status();
  EXPECT_THAT(status.to_string(), HasSubstr("options: [a=1][c= ][b=call][d=4]"));
  const Status unknown = registry_of({kHostMemory})->open_device("host_memory?a=1").status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
}

TEST(RegistryTest, OptionsOfADriverReachIt) {
  const auto registry = registry_of({kHostMemory}, {{"host_memory", "path", "/x"}});
  EXPECT_THAT(registry->open_device("host_memory").status().to_string(),
              HasSubstr("does not know the option (path)"));
}

TEST(RegistryTest, SeveralGpusAreOpenedInTheirOrder) {
  const auto registry = registry_of({kBroken + "/open_throws.so"});
  // Of the three, the first throws, the second is nothing and the third says what it is given.
  EXPECT_THAT(registry->open_device("open_throws").status().to_string(),
              HasSubstr("threw an exception while it opened its device 0"));
  EXPECT_THAT(registry->open_device("open_throws://1,2").status().to_string(),
              HasSubstr("returned OK but no object from Driver::create_device"));
  EXPECT_THAT(registry->open_device("open_throws://2,GPU-aa00?a=1").status().to_string(),
              HasSubstr("options: [a=1]"));
  EXPECT_THAT(registry->open_device("open_throws://GPU-bb11,1").status().to_string(),
              HasSubstr("twice, at character 24: by the UUID (GPU-bb11) and by the ordinal (1)"));
}

TEST(RegistryTest, GpusOneByOne) {
  const auto registry = registry_of({kBroken + "/open_throws.so"});
  const auto gpus_of = [&](std::string_view uri) {
    std::vector<std::string> texts;
    const auto gpus = registry->gpus(parse_device_uri(uri).value());
    EXPECT_TRUE(gpus.ok()) << gpus.status().to_string();
    if (!gpus.ok()) return texts;
    for (const DeviceUri& gpu : *gpus) texts.push_back(to_string(gpu));
    return texts;
  };
  EXPECT_THAT(gpus_of("open_throws?a=1"),
              ElementsAre("open_throws:0?a=1", "open_throws:1?a=1", "open_throws:2?a=1"));
  EXPECT_THAT(gpus_of("open_throws://2,GPU-aa00"), ElementsAre("open_throws:2", "open_throws:0"));
}

class OpenThrowsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(OpenThrowsTest, AnExceptionOrNothingWhileADeviceOpensIsAnError) {
  if (HALYARD_TEST_HAS_LIBCXX == 0 && GetParam().starts_with(kLibcxx)) {
    GTEST_SKIP() << "This build had no clang++-22 with libc++.";
  }
  const auto registry = registry_of({GetParam()});
  const Status thrown = registry->open_device("open_throws://GPU-aa00").status();
  EXPECT_EQ(thrown.code(), StatusCode::kInternal);
  EXPECT_THAT(thrown.to_string(), HasSubstr("threw an exception"));
  const Status nothing = registry->open_device("open_throws:1").status();
  EXPECT_EQ(nothing.code(), StatusCode::kInternal);
  EXPECT_THAT(nothing.to_string(), HasSubstr("returned OK but no object"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, OpenThrowsTest,
                         ::testing::Values(kBroken + "/open_throws.so",
                                           kLibcxx + "/shared/libhalyard_driver_open_throws.so",
                                           kLibcxx + "/static/libhalyard_driver_open_throws.so"));

TEST(RegistryTest, ManyThreadsMayAsk) {
  const auto registry = registry_of({kBroken, kHostMemory});
  std::atomic<int> opened = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) registry->report();
      if (registry->open_device("host_memory").ok()) ++opened;
      if (!registry->open_device("nothing").ok()) ++opened;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, 16);
}

TEST(RegistryTest, AnEmptyRegistryWorks) {
  const auto registry = registry_of({});
  EXPECT_THAT(registry->drivers(), IsEmpty());
  EXPECT_EQ(registry->open_device("amdgpu").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace halyard
