// The device library's code objects without a device: every one is read back, and the choice among
// them.
#include "drivers/amdgpu/device_binaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "drivers/amdgpu/device/abi.h"
#include "drivers/amdgpu/device_library.h"
#include "hal/code_object.h"
#include "hal/presentation.h"
#include "hal/selection.h"
#include "hal/target_id.h"
#include "hal/target_map.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

std::vector<LibraryKernel> all_kernels() {
  std::vector<LibraryKernel> kernels;
  for (size_t i = 0; i < kLibraryKernelCount; ++i) kernels.push_back(static_cast<LibraryKernel>(i));
  return kernels;
}

TEST(DeviceBinariesTest, SayTheTargetThatTheyAreListedFor) {
  std::set<std::string> targets;
  for (const DeviceBinary& binary : device_binaries()) {
    SCOPED_TRACE(binary.target);
    const Result<CodeObject> object = CodeObject::read(binary.data, binary.size);
    ASSERT_TRUE(object.ok()) << object.status().to_string();
    EXPECT_EQ(object->target_name(), binary.target);
    const ProcessorInfo* const processor = find_processor(object->target().processor);
    ASSERT_NE(processor, nullptr);
    EXPECT_EQ(object->elf_flags() & 0xff, processor->elf_machine);
    EXPECT_EQ(object->generic_version(), processor->is_generic() ? processor->generic_version : 0u);
    EXPECT_GE(object->version(), processor->is_generic() ? 6u : 5u);
    targets.insert(binary.target);
  }
  EXPECT_EQ(targets.size(), device_binaries().size());
  EXPECT_FALSE(targets.empty());
}

TEST(DeviceBinariesTest, HaveEveryKernelWithTheArgumentsThatTheHostWrites) {
  for (const DeviceBinary& binary : device_binaries()) {
    const Result<CodeObject> object = CodeObject::read(binary.data, binary.size);
    ASSERT_TRUE(object.ok()) << object.status().to_string();
    EXPECT_EQ(object->kernels().size(), kLibraryKernelCount);
    for (const LibraryKernel kernel : all_kernels()) {
      const LibraryKernelInfo& expected = info_of(kernel);
      SCOPED_TRACE(std::string(binary.target) + " " + expected.name);
      const Result<const KernelInfo*> found = object->find(expected.name);
      ASSERT_TRUE(found.ok()) << found.status().to_string();
      const FunctionInfo& info = (*found)->function;
      ASSERT_EQ(info.arguments.size(), 1u);
      EXPECT_EQ(info.arguments[0].kind, ArgumentKind::kValue);
      EXPECT_EQ(info.arguments[0].offset, 0u);
      EXPECT_EQ(info.arguments[0].size, expected.arguments_size);
      EXPECT_EQ(info.kernarg_size, expected.arguments_size);
      EXPECT_TRUE(info.hidden.empty());
      // Nothing that a queue would have to provide, or that costs occupancy.
      EXPECT_EQ(info.private_segment_size, 0u);
      EXPECT_EQ(info.group_segment_size, 0u);
      EXPECT_FALSE(info.uses_dynamic_stack);
      EXPECT_EQ(info.max_workgroup_size,
                kernel == LibraryKernel::kPatchDispatch ? 1 : HALYARD_GROUP_SIZE);
    }
  }
}

TEST(DeviceBinariesTest, AreSmall) {
  size_t bytes = 0;
  for (const DeviceBinary& binary : device_binaries()) bytes += binary.size;
  EXPECT_LT(bytes, size_t{200} * 1024);
}

// What an old loader is given for each processor that a generic target covers.
TEST(DeviceBinariesTest, CanBePresentedToAnOldLoader) {
  for (const DeviceBinary& binary : device_binaries()) {
    for (const std::string_view name : processors_of_generic(binary.target)) {
      SCOPED_TRACE(std::string(binary.target) + " " + std::string(name));
      const Result<TargetId> device = parse_target_id(name);
      ASSERT_TRUE(device.ok());
      const auto presented = present_code_object(binary.data, binary.size, 5, *device);
      ASSERT_TRUE(presented.ok()) << presented.status().to_string();
      const Result<CodeObject> object = CodeObject::read(presented->data(), presented->size());
      ASSERT_TRUE(object.ok()) << object.status().to_string();
      EXPECT_EQ(object->target().processor, name);
      EXPECT_EQ(object->version(), 5u);
      EXPECT_TRUE(object->find(info_of(LibraryKernel::kFill).name).ok());
    }
  }
}

std::vector<VariantFacts> binaries_for(const std::vector<std::string_view>& targets) {
  std::vector<VariantFacts> binaries;
  for (const std::string_view name : targets) {
    const TargetId target = *parse_target_id(name);
    const bool is_generic = find_processor(target.processor)->is_generic();
    binaries.push_back({target, kNewestCodeObjectVersion, is_generic ? 1u : 0u, {}});
  }
  return binaries;
}

std::string chosen(const std::vector<std::string_view>& targets, const char* device) {
  const Result<size_t> choice =
      choose_device_binary(binaries_for(targets), *parse_target_id(device));
  return choice.ok() ? std::string(targets[*choice]) : choice.status().to_string();
}

TEST(ChooseDeviceBinaryTest, PrefersTheClosest) {
  const std::vector<std::string_view> targets = {"gfx9-generic", "gfx906", "gfx906:xnack-",
                                                 "gfx906:xnack+", "gfx90a"};
  EXPECT_EQ(chosen(targets, "gfx906:sramecc+:xnack-"), "gfx906:xnack-");
  EXPECT_EQ(chosen(targets, "gfx906:sramecc+:xnack+"), "gfx906:xnack+");
  EXPECT_EQ(chosen({"gfx9-generic", "gfx906"}, "gfx906:sramecc+:xnack-"), "gfx906");
  EXPECT_EQ(chosen({"gfx9-generic", "gfx9-generic:xnack-"}, "gfx906:sramecc+:xnack-"),
            "gfx9-generic:xnack-");
  EXPECT_EQ(chosen(targets, "gfx900:xnack-"), "gfx9-generic");
  EXPECT_EQ(chosen(targets, "gfx90a:sramecc+:xnack-"), "gfx90a");
}

TEST(ChooseDeviceBinaryTest, AMissSaysWhatThereIs) {
  const std::string message = chosen({"gfx9-generic", "gfx90a"}, "gfx1030");
  EXPECT_THAT(message, HasSubstr("gfx1030"));
  EXPECT_THAT(message, HasSubstr("gfx10-3-generic"));
  EXPECT_THAT(message, HasSubstr("gfx9-generic (gfx9-generic covers"));
  EXPECT_THAT(message, HasSubstr("gfx90a (gfx90a code does not run on gfx1030)"));
  EXPECT_THAT(message, HasSubstr("-DHALYARD_DEVICE_TARGETS=gfx1030"));
}

// The set that is checked in covers what it is meant to.
TEST(ChooseDeviceBinaryTest, ThePrebuiltSetCoversItsProcessors) {
  const std::vector<std::string_view> targets = {
      "gfx9-generic",    "gfx908",          "gfx90a",        "gfx9-4-generic",
      "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"};
  const std::pair<const char*, const char*> expected[] = {
      {"gfx900:xnack-", "gfx9-generic"},
      {"gfx902:xnack+", "gfx9-generic"},
      {"gfx906:sramecc+:xnack-", "gfx9-generic"},
      {"gfx908:sramecc+:xnack-", "gfx908"},
      {"gfx90a:sramecc+:xnack-", "gfx90a"},
      {"gfx90a:sramecc+:xnack+", "gfx90a"},
      {"gfx90c:xnack-", "gfx9-generic"},
      {"gfx942:sramecc+:xnack-", "gfx9-4-generic"},
      {"gfx950:sramecc+:xnack-", "gfx9-4-generic"},
      {"gfx1010:xnack-", "gfx10-1-generic"},
      {"gfx1030", "gfx10-3-generic"},
      {"gfx1036", "gfx10-3-generic"},
      {"gfx1100", "gfx11-generic"},
      {"gfx1151", "gfx11-generic"},
      {"gfx1200", "gfx12-generic"},
      {"gfx1201", "gfx12-generic"},
  };
  for (const auto& [device, target] : expected) EXPECT_EQ(chosen(targets, device), target);
  EXPECT_EQ(choose_device_binary(binaries_for(targets), *parse_target_id("gfx803")).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace halyard::amdgpu
