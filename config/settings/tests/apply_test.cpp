// Each key changes what Halyard does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/settings/apply.h"
#include "config/settings/settings.h"
#include "registry/tests/temporary_folder.h"
#include "tools/values/compare.h"

namespace halyard::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScopedVariable;
using testing::TemporaryFolder;

class ApplyTest : public ::testing::Test {
 protected:
  Settings settings_of(std::string_view text, std::vector<FlagValue> flags = {}) {
    SettingsSources sources;
    sources.installation = HALYARD_CONFIG_PREFIX;
    sources.system_folder = {};
    sources.user_folder = "";
    sources.files = {folder_.add_file("a.yaml", text)};
    sources.flags = std::move(flags);
    Result<Settings> settings = Settings::load(sources);
    EXPECT_TRUE(settings.ok()) << settings.status().to_string();
    return settings.ok() ? *settings : Settings();
  }
  // With host_memory's plugin and no other.
  std::unique_ptr<Registry> registry_of(const std::string& text) {
    RegistryOptions options =
        registry_options(settings_of("plugins: {paths: [" HALYARD_TEST_HOST_MEMORY "]}\n" + text));
    options.discovery.use_environment = false;
    options.discovery.use_installation = false;
    return Registry::create(options);
  }
  static std::string message_of(const Status& status) {
    return std::string(status.message().view());
  }

  TemporaryFolder folder_;
  ScopedVariable profile_{"HALYARD_VGPU_PROFILE", ""};
};

// Config key: plugins.paths
TEST_F(ApplyTest, PluginPathsAreSearched) {
  const auto registry = registry_of("");
  EXPECT_TRUE(registry->open_device("host_memory").ok());
  EXPECT_EQ(registry->report().candidates[0].origin, PluginOrigin::kConfig);
}

// Config key: drivers.<driver>.enabled
TEST_F(ApplyTest, ADriverThatIsTurnedOffIsNotOpened) {
  const auto registry = registry_of("drivers: {host_memory: {enabled: false}}\n");
  const auto device = registry->open_device("host_memory");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(
      message_of(device.status()),
      AllOf(HasSubstr("The driver host_memory is turned off: drivers.host_memory.enabled is false "
                      "("),
            HasSubstr("a.yaml:2:34)")));
  const Candidate candidate = registry->report().candidates[0];
  EXPECT_TRUE(candidate.disabled);
  EXPECT_EQ(candidate.stage, LoadStage::kFound) << "its file name says which driver it brings";
  EXPECT_TRUE(registry->drivers().empty());
  const auto probed = registry->probe(std::chrono::seconds(60));
  ASSERT_TRUE(probed.ok());
  EXPECT_TRUE(probed->candidates[0].disabled);

  // A file that does not say so has to be asked.
  const std::string copy = folder_.add_copy("libother.so", HALYARD_TEST_HOST_MEMORY);
  RegistryOptions options =
      registry_options(settings_of("drivers: {host_memory: {enabled: false}}\n"));
  options.discovery = {.plugin_paths = {copy}, .use_environment = false, .use_installation = false};
  const auto other = Registry::create(options);
  EXPECT_FALSE(other->open_device("host_memory").ok());
  EXPECT_EQ(other->report().candidates[0].stage, LoadStage::kNegotiated);
  EXPECT_TRUE(
      registry_of("drivers: {host_memory: {enabled: true}}\n")->open_device("host_memory").ok());
}

// Config key: drivers.<driver>.options.<option>
TEST_F(ApplyTest, ADriverIsGivenItsOptions) {
  const auto device =
      registry_of("drivers: {host_memory: {options: {speed: 7}}}\n")->open_device("host_memory");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(message_of(device.status()), HasSubstr("does not know the option (speed)"));
}

// "key=value" of the device options that a driver which lists `known` is given.
std::vector<std::string> options_of(const Settings& settings, std::string_view driver,
                                    std::string_view processor,
                                    const std::vector<std::string_view>& known) {
  std::vector<DeviceOptionInfo> listed;
  for (const std::string_view key : known) listed.emplace_back().key = key;
  std::vector<std::string> texts;
  for (const ConfiguredOption& option :
       registry_options(settings).device_options(driver, processor, listed)) {
    texts.push_back(option.key + "=" + option.value);
  }
  return texts;
}

TEST_F(ApplyTest, ProcessorsHaveDeviceOptions) {
  const Settings settings = settings_of(
      "processors:\n"
      "  default: {stack_size: 16KiB, wait: {spin: 50us}}\n"
      "  gfx90a:\n"
      "    queues: {capacity: 4096, max: 8, kernarg: 1KiB}\n"
      "    wait: {spin: 1ms}\n"
      "    pools: {keep: 1GiB, limit: 2GiB}\n"
      "    copies: {engine_from: 256KiB}\n"
      "    workgroups: {max_size: 256}\n");
  std::vector<std::string_view> all;
  for (const Key& key : key_table()) {
    if (!key.device_option.empty()) all.push_back(key.device_option);
  }
  EXPECT_THAT(options_of(settings, "amdgpu", "gfx900", all),
              ElementsAre("stack_bytes=16384", "wait_spin_us=50"));
  EXPECT_THAT(
      options_of(settings, "amdgpu", "gfx90a", all),
      ElementsAre("stack_bytes=16384", "queue_capacity=4096", "kernarg_bytes=1024", "max_queues=8",
                  "wait_spin_us=1000", "pool_keep_bytes=1073741824", "pool_limit_bytes=2147483648",
                  "copy_engine_bytes=262144", "max_workgroup_size=256"));
  // A driver is given what it lists, whatever its name is.
  EXPECT_THAT(options_of(settings, "mine", "gfx90a", {"max_queues", "color"}),
              ElementsAre("max_queues=8"));
  EXPECT_THAT(options_of(settings, "amdgpu", "gfx90a", {}), ElementsAre());
}

TEST_F(ApplyTest, ADriversOwnDeviceOptionsAreGivenByTheirNames) {
  const Settings settings = settings_of(
      "processors:\n"
      "  default: {drivers: {mine: {color: red, speed: 3}, other: {size: 1}}}\n"
      "  gfx90a: {drivers: {mine: {speed: fast}}, queues: {max: 8}}\n");
  EXPECT_THAT(options_of(settings, "mine", "gfx900", {}), ElementsAre("color=red", "speed=3"));
  EXPECT_THAT(options_of(settings, "mine", "gfx90a", {"max_queues"}),
              ElementsAre("max_queues=8", "color=red", "speed=fast"));
  EXPECT_THAT(options_of(settings, "hip", "gfx90a", {}), ElementsAre());
}

// A driver that is no part of Halyard: its options work in configs and URIs, and errors list them.
// Config key: processors.<processor>.drivers.<driver>.<option>
TEST_F(ApplyTest, ADriverIsOpenedWithTheOptionsThatItLists) {
  const auto memory_of = [](const Result<Ref<Device>>& device) {
    EXPECT_TRUE(device.ok()) << device.status().to_string();
    return device.ok() ? (*device)->info().memory_bytes : 0;
  };
  EXPECT_EQ(memory_of(registry_of("")->open_device("host_memory")), 64u << 20);
  const auto registry =
      registry_of("processors: {default: {drivers: {host_memory: {memory_bytes: 8192}}}}\n");
  EXPECT_EQ(memory_of(registry->open_device("host_memory")), 8192u);
  EXPECT_EQ(memory_of(registry->open_device("host_memory?memory_bytes=4096")), 4096u);
  EXPECT_THAT(
      message_of(registry->open_device("host_memory?memory_byte=4096").status()),
      AllOf(HasSubstr("(host_memory?memory_byte=4096) is refused at character 13 "
                      "(memory_byte)"),
            HasSubstr("The driver host_memory does not know the device option (memory_byte). "
                      "It knows: memory_bytes. Did you mean \"memory_bytes\"?")));

  EXPECT_THAT(message_of(registry->gpus(*parse_device_uri("host_memory:0?speed=7")).status()),
              HasSubstr("is refused at character 15 (speed)"))
      << "also where nothing is opened";

  const auto unknown = registry_of("processors: {default: {drivers: {host_memory: {speed: 7}}}}\n");
  EXPECT_THAT(message_of(unknown->open_device("host_memory").status()),
              AllOf(HasSubstr("a.yaml:2:55: the device option (speed) of a config is refused"),
                    HasSubstr("It knows: memory_bytes.")));
  const auto illegal =
      registry_of("processors: {default: {drivers: {host_memory: {memory_bytes: few}}}}\n");
  EXPECT_THAT(message_of(illegal->open_device("host_memory").status()),
              AllOf(HasSubstr("a.yaml:2:62: the device option (memory_bytes) of a config"),
                    HasSubstr("is given (few). It is a whole number from 4096 to 67108864.")));
}

TEST_F(ApplyTest, VendorLibrariesAreDriverOptions) {
  const auto options_of = [](const Settings& settings) {
    std::vector<std::string> texts;
    for (const DriverOption& option : registry_options(settings).driver_options) {
      texts.push_back(option.driver + " " + option.key + " " + option.value);
    }
    return texts;
  };
  const char* const text = "drivers: {amdgpu: {libhsa: /a/b}, hip: {libhip: libx.so}}\n";
  const ScopedVariable hip("HALYARD_LIBHIP_PATH", "");
  {
    const ScopedVariable hsa("HALYARD_LIBHSA_PATH", "");
    EXPECT_THAT(options_of(settings_of(text)),
                ElementsAre("amdgpu libhsa /a/b", "hip libhip libx.so"));
  }
  // The driver reads the variable itself, if it has no option.
  const ScopedVariable hsa("HALYARD_LIBHSA_PATH", "/of/the/variable");
  EXPECT_THAT(options_of(settings_of(text)), ElementsAre("hip libhip libx.so"));
  EXPECT_THAT(options_of(settings_of(text, {{"drivers.amdgpu.libhsa", "/c"}})),
              ElementsAre("amdgpu libhsa /c", "hip libhip libx.so"));
}

// Config key: devices.<device>
TEST_F(ApplyTest, NamedDevicesAndGroupsAreOpened) {
  const auto registry = registry_of(
      "devices:\n  trainer: host_memory:0\n  pair: [host_memory, "
      "\"host_memory:0?validation=none\"]\n"
      "  wrong: host_memory:7\n");
  EXPECT_TRUE(registry->open_device("trainer").ok());
  const auto pair = registry->open_devices("pair");
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  ASSERT_EQ(pair->size(), 2u);
  EXPECT_TRUE((*pair)[0]->validates());
  EXPECT_FALSE((*pair)[1]->validates());
  EXPECT_EQ(registry->open_devices("host_memory")->size(), 1u);

  EXPECT_THAT(message_of(registry->open_device("pair").status()),
              HasSubstr("The name pair stands for devices with different options, which cannot be "
                        "one logical device; name one of them: host_memory and "
                        "host_memory:0?validation=none."));
  EXPECT_THAT(message_of(registry->open_device("trainer:0").status()),
              HasSubstr("has an ordinal or selectors at character 8, behind trainer, which is a "
                        "name that a config gives to devices; only ?key=value can stand there. "
                        "The name stands for host_memory:0."));
  EXPECT_THAT(message_of(registry->open_device("wrong").status()), HasSubstr("ordinal (7)"));
  EXPECT_THAT(message_of(registry->open_device("trianer").status()),
              AllOf(HasSubstr("named devices: pair, trainer and wrong"),
                    HasSubstr("Did you mean \"trainer\"?")));
  // What the URI adds goes to the device.
  EXPECT_FALSE((*registry->open_device("trainer?validation=none"))->validates());
  EXPECT_THAT(message_of(registry->open_device("trainer?color=red").status()),
              AllOf(HasSubstr("host_memory:0?color=red) is refused at character 15 (color)"),
                    HasSubstr("does not know the device option (color)")));
}

TEST_F(ApplyTest, AGroupIsOneLogicalDeviceOfOneDriver) {
  const auto registry = registry_of(
      "devices:\n  twice: [host_memory, \"host_memory:0\"]\n  mixed: [host_memory, "
      "\"amdgpu:0\"]\n");
  EXPECT_THAT(message_of(registry->open_device("twice").status()),
              HasSubstr("The device host_memory:0 is in host_memory and host_memory:0 twice."));
  EXPECT_THAT(message_of(registry->open_device("mixed").status()),
              HasSubstr("The name mixed stands for devices with different drivers, which cannot be "
                        "one logical device; name one of them: host_memory and amdgpu:0."));
}

// Config key: validation.level
TEST_F(ApplyTest, ValidationIsOffWhereAConfigOrAUriSaysSo) {
  EXPECT_TRUE((*registry_of("")->open_device("host_memory"))->validates());
  const auto registry = registry_of("validation: {level: none}\n");
  const Ref<Device> device = *registry->open_device("host_memory");
  EXPECT_FALSE(device->validates());
  EXPECT_TRUE((*registry->open_device("host_memory?validation=full"))->validates());
  EXPECT_THAT(
      message_of(registry->open_device("host_memory?validation=off").status()),
      AllOf(HasSubstr("(host_memory?validation=off) is refused at character 13 (validation)"),
            HasSubstr("The device option (validation) has a value (off) that is unknown; "
                      "it must be full or none.")));
}

TEST_F(ApplyTest, VirtualGpusHaveNamesAndLimits) {
  const Settings settings = settings_of(
      "vgpu: {profile: tiny, library: /opt/vgpu}\n"
      "virtual_gpus:\n"
      "  small: {profile: mi210, memory_size: 4GiB, compute_units: 8}\n"
      "  tiny: {profile: gfx900, compute_units: 4}\n"
      "  broken: {memory_size: 1GiB}\n");
  EXPECT_EQ(*virtual_gpu_profile(settings, "small"), "mi210,memory_size=4GiB,compute_units=8");
  EXPECT_EQ(*virtual_gpu_profile(settings, ""), "gfx900,compute_units=4");
  EXPECT_EQ(*virtual_gpu_profile(settings, "mi50"), "mi50");
  EXPECT_EQ(*virtual_gpu_profile(settings, "tiny,memory_size=1GiB"),
            "gfx900,compute_units=4,memory_size=1GiB");
  EXPECT_THAT(message_of(virtual_gpu_profile(settings, "broken").status()),
              HasSubstr("virtual_gpus.broken.profile must name one"));
  EXPECT_EQ(virtual_gpu_options(settings).library, "/opt/vgpu");

  const ScopedVariable variable("HALYARD_VGPU_PROFILE", "small");
  EXPECT_EQ(*virtual_gpu_profile(settings_of("virtual_gpus: {small: {profile: mi100}}\n"), ""),
            "mi100");
  EXPECT_EQ(*virtual_gpu_profile(settings_of("vgpu: {profile: mi50}\n"), ""), "")
      << "the library reads the variable";
}

TEST_F(ApplyTest, TheLogLevelIsRead) {
  EXPECT_EQ(log_level(settings_of("")), LogLevel::kNote);
  EXPECT_EQ(log_level(settings_of("logging: {level: warning}\n")), LogLevel::kWarning);
  EXPECT_EQ(log_level(settings_of("logging: {level: error}\n")), LogLevel::kError);
}

// The library's own tolerances are those that the first layer has.
TEST_F(ApplyTest, TheTolerancesOfTheInstallationAreTheLibrarys) {
  const Settings settings = settings_of("");
  for (const auto type : {values::ElementType::kF16, values::ElementType::kBf16,
                          values::ElementType::kF32, values::ElementType::kF64}) {
    const std::string path = std::string("tolerances.") + values::to_string(type);
    const values::Tolerance standard = values::default_tolerance(type);
    EXPECT_EQ(settings.of_processor("gfx900", path + ".absolute")->value().real, standard.absolute);
    EXPECT_EQ(settings.of_processor("gfx900", path + ".relative")->value().real, standard.relative);
  }
}

}  // namespace
}  // namespace halyard::config
