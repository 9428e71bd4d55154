// The suite's fat files without a device: each has what cts/kernels/modules.yaml says, and a
// variant for every generation or the reason why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hal/code_object.h"
#include "hal/module.h"
#include "hal/target_id.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kGenericVersion = 6;

const std::string kFolder = HALYARD_TEST_KERNELS;

const YAML::Node& manifest() {
  static const YAML::Node node = YAML::LoadFile(kFolder + "/modules.yaml");
  return node;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : manifest()["modules"]) names.push_back(entry.first.as<std::string>());
  return names;
}

class Kernels : public testing::TestWithParam<std::string> {
 protected:
  Kernels()
      : node_(manifest()["modules"][GetParam()]),
        module_(Module::open(kFolder + "/" + GetParam() + ".hipfb")) {}

  void SetUp() override { ASSERT_TRUE(module_.ok()) << module_.status().to_string(); }

  YAML::Node node_;
  Result<Module> module_;
};

TEST_P(Kernels, AreForTheTargetsOfTheManifest) {
  std::map<std::string, uint32_t> expected;  // versions
  for (const auto& target : node_["exact"]) {
    expected[target.as<std::string>()] = node_["version"].as<uint32_t>();
  }
  for (const auto& target : node_["generic"]) expected[target.as<std::string>()] = kGenericVersion;
  std::map<std::string, uint32_t> found;
  for (const ModuleVariant& variant : module_->variants()) {
    const Result<CodeObject> object = CodeObject::read(variant.bytes.data(), variant.bytes.size());
    ASSERT_TRUE(object.ok()) << variant.entry << ": " << object.status().to_string();
    found[object->target_name()] = object->version();
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(module_->variants().size(), expected.size());
}

TEST_P(Kernels, RunOnEveryGenerationOrSayWhyNot) {
  std::set<std::string> excused;
  for (const auto& entry : node_["without"]) {
    EXPECT_GT(entry.second.as<std::string>().size(), 20u) << "no reason";
    std::istringstream words(entry.first.as<std::string>());
    for (std::string word; words >> word;) excused.insert(word);
  }
  for (const auto& entry : manifest()["covers"]) {
    const auto processor = entry.as<std::string>();
    const Result<TargetId> device = parse_target_id(processor);
    ASSERT_TRUE(device.ok());
    EXPECT_NE(module_->choose({.device = *device}).ok(), excused.erase(processor) == 1)
        << processor << " has a variant and a reason for having none, or neither";
  }
  EXPECT_THAT(excused, testing::IsEmpty()) << "excused, but nobody asks for them";
}

// Whichever is loaded, a test finds the same kernels with the same arguments.
TEST_P(Kernels, AreTheSameInEveryVariant) {
  const auto describe = [](const ModuleVariant& variant) {
    std::map<std::string, std::vector<uint64_t>> kernels;
    const Result<CodeObject> object = CodeObject::read(variant.bytes.data(), variant.bytes.size());
    if (!object.ok()) return kernels;
    for (const KernelInfo& kernel : object->kernels()) {
      auto& arguments = kernels[std::string(kernel.function.name.view())];
      for (const ArgumentInfo& argument : kernel.function.arguments) {
        arguments.insert(arguments.end(),
                         {static_cast<uint64_t>(argument.kind), argument.offset, argument.size});
      }
    }
    return kernels;
  };
  const auto first = describe(module_->variants().front());
  EXPECT_FALSE(first.empty());
  for (const ModuleVariant& variant : module_->variants()) {
    EXPECT_EQ(describe(variant), first) << variant.entry;
  }
}

INSTANTIATE_TEST_SUITE_P(, Kernels, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(KernelFolder, HasNoFileOfNoModule) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".hipfb") files.insert(entry.path().stem());
  }
  EXPECT_THAT(files, testing::UnorderedElementsAreArray(names()));
}

}  // namespace
}  // namespace halyard::cts
