// Compares the target map with the LLVM 22 that is installed: its processors (what `llc -mcpu=help`
// prints), the ELF header that it writes for each, and what its generic targets are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/TargetParser.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hal/target_map.h"

namespace halyard {
namespace {

using ::testing::Contains;
using ::testing::IsSubsetOf;
using ::testing::UnorderedElementsAreArray;

const llvm::Triple kTriple("amdgcn-amd-amdhsa");

const llvm::Target& amdgpu() {
  static const llvm::Target* const target = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(kTriple, error);
    EXPECT_NE(found, nullptr) << error;
    return found;
  }();
  return *target;
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const std::string& processor) {
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      amdgpu().createMCSubtargetInfo(kTriple, processor, ""));
}

// The names that -mcpu= takes, but for "tahiti" and such.
std::set<std::string> llvm_processors() {
  std::set<std::string> names;
  const auto any = subtarget("gfx900");
  for (const llvm::SubtargetSubTypeKV& entry : any->getAllProcessorDescriptions()) {
    if (llvm::StringRef(entry.Key).starts_with("gfx")) names.insert(entry.Key);
  }
  return names;
}

std::set<std::string> llvm_features(const std::string& processor) {
  std::set<std::string> names;
  const auto info = subtarget(processor);
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures()) {
    if (info->getFeatureBits().test(feature.Value)) names.insert(feature.Key);
  }
  return names;
}

// The header of the object file that LLVM writes for a processor, from a module with nothing in it.
llvm::ELF::Elf64_Ehdr llvm_elf_header(const std::string& processor) {
  const std::unique_ptr<llvm::TargetMachine> machine(
      amdgpu().createTargetMachine(kTriple, processor, "", {}, std::nullopt));
  llvm::LLVMContext context;
  llvm::Module module("empty", context);
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(
      machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile));
  passes.run(module);
  llvm::ELF::Elf64_Ehdr header = {};
  EXPECT_GE(object.size(), sizeof(header));
  std::memcpy(&header, object.data(), std::min(object.size(), sizeof(header)));
  return header;
}

std::vector<const ProcessorInfo*> current_targets() {
  std::vector<const ProcessorInfo*> targets;
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.kind != ProcessorKind::kHistoric) targets.push_back(&processor);
  }
  return targets;
}

// A feature that takes code away (a workaround, a restriction) rather than giving instructions.
bool is_restriction(const std::string& feature) {
  const llvm::StringRef name(feature);
  return name.ends_with("-bug") || name.ends_with("-hazard") ||
         name == "required-export-priority" || name == "requires-cov6" ||
         name.starts_with("addressablelocalmemorysize");
}

std::set<std::string> instructions(const std::string& processor) {
  std::set<std::string> features = llvm_features(processor);
  std::erase_if(features, is_restriction);
  return features;
}

std::set<std::string> workarounds(const std::string& processor) {
  std::set<std::string> features = llvm_features(processor);
  std::erase_if(features, [](const std::string& feature) {
    const llvm::StringRef name(feature);
    return !name.ends_with("-bug") && !name.ends_with("-hazard");
  });
  return features;
}

TEST(LlvmTargets, AreTheProcessorsOfTheMap) {
  std::set<std::string> of_the_map;
  for (const ProcessorInfo* target : current_targets()) of_the_map.insert(target->name);
  std::set<std::string> of_llvm;
  for (const std::string& name : llvm_processors()) {
    const ProcessorInfo* known = find_processor(std::string_view(name));
    ASSERT_NE(known, nullptr) << "LLVM has " << name << ", and config/targets.yaml does not";
    const bool is_old = llvm::AMDGPU::getIsaVersion(name).Major < 9;
    EXPECT_EQ(known->kind == ProcessorKind::kHistoric, is_old) << name;
    if (!is_old) of_llvm.insert(name);
  }
  EXPECT_THAT(of_the_map, UnorderedElementsAreArray(of_llvm));
  EXPECT_THAT(of_llvm, Contains("gfx1251"));
}

TEST(LlvmTargets, HaveTheElfHeaderThatTheMapSays) {
  constexpr uint32_t kXnackAny = llvm::ELF::EF_AMDGPU_FEATURE_XNACK_ANY_V4;
  constexpr uint32_t kSrameccAny = llvm::ELF::EF_AMDGPU_FEATURE_SRAMECC_ANY_V4;
  for (const std::string& name : llvm_processors()) {
    SCOPED_TRACE(name);
    const ProcessorInfo* target = find_processor(std::string_view(name));
    ASSERT_NE(target, nullptr);
    const llvm::ELF::Elf64_Ehdr header = llvm_elf_header(name);
    EXPECT_EQ(header.e_machine, llvm::ELF::EM_AMDGPU);
    const uint32_t version = target->is_generic() ? target->generic_version : 0;
    EXPECT_EQ(header.e_flags, (version << 24) | (target->has_sramecc ? kSrameccAny : 0) |
                                  (target->has_xnack ? kXnackAny : 0) | target->elf_machine);
  }
}

TEST(LlvmTargets, TakeTheFeaturesThatTheMapSays) {
  for (const ProcessorInfo* target : current_targets()) {
    SCOPED_TRACE(target->name);
    const unsigned attributes =
        llvm::AMDGPU::getArchAttrAMDGCN(llvm::AMDGPU::parseArchAMDGCN(target->name));
    const bool can_choose = target->features_can_be_chosen;
    EXPECT_EQ((attributes & llvm::AMDGPU::FEATURE_XNACK) != 0, can_choose && target->has_xnack);
    EXPECT_EQ((attributes & llvm::AMDGPU::FEATURE_SRAMECC) != 0, can_choose && target->has_sramecc);
  }
}

TEST(LlvmTargets, HaveTheWavefrontSizesThatTheMapSays) {
  for (const ProcessorInfo* target : current_targets()) {
    SCOPED_TRACE(target->name);
    const std::set<std::string> features = llvm_features(target->name);
    std::vector<int> accepted;
    for (const int size : {32, 64}) {
      const std::string name = "wavefrontsize" + std::to_string(size);
      EXPECT_EQ(features.contains(name), size == target->wavefront_size) << name;
      llvm::StringMap<bool> wanted;
      wanted[name] = true;
      const auto verdict = llvm::AMDGPU::fillAMDGPUFeatureMap(target->name, kTriple, wanted);
      if (verdict.first == llvm::AMDGPU::NO_ERROR) accepted.push_back(size);
    }
    std::vector<int> of_the_map = {target->wavefront_size};
    if (target->other_wavefront_size != 0) of_the_map.push_back(target->other_wavefront_size);
    EXPECT_THAT(accepted, UnorderedElementsAreArray(of_the_map));
  }
}

// LLVM has no table of who runs a generic target's code but in its documentation. What it has are
// the features that the target is made of: code for it runs where all its instructions are.
TEST(LlvmTargets, RunTheGenericCodeWhoseInstructionsTheyHave) {
  for (const ProcessorInfo* generic : current_targets()) {
    if (!generic->is_generic()) continue;
    const std::set<std::string> needed = instructions(generic->name);
    for (const ProcessorInfo* processor : current_targets()) {
      if (processor->kind != ProcessorKind::kExact) continue;
      const std::set<std::string> there = instructions(processor->name);
      const bool has_all = std::includes(there.begin(), there.end(), needed.begin(), needed.end());
      const bool is_covered =
          processor->generic != nullptr && std::string(processor->generic) == generic->name;
      // The documentation leaves it out (AMDGPUUsage, "AMDGPU Generic Processors").
      const bool is_left_out =
          std::string(generic->name) == "gfx9-generic" && std::string(processor->name) == "gfx908";
      EXPECT_EQ(is_covered, has_all && !is_left_out) << processor->name << " by " << generic->name;
      EXPECT_TRUE(has_all || !is_left_out) << "gfx908 is no exception any more";
    }
  }
}

// And where nothing needs a workaround that the generic code does not have.
TEST(LlvmTargets, NeedNoWorkaroundThatTheirGenericTargetLacks) {
  // Of instructions that the generic target does not have: FP8 conversions.
  const std::map<std::string, std::set<std::string>> unreachable = {
      {"gfx942", {"cvt-fp8-vop1-bug"}}};
  for (const ProcessorInfo* processor : current_targets()) {
    if (processor->generic == nullptr) continue;
    std::set<std::string> needed = workarounds(processor->name);
    if (const auto entry = unreachable.find(processor->name); entry != unreachable.end()) {
      for (const std::string& feature : entry->second) EXPECT_EQ(needed.erase(feature), 1U);
    }
    EXPECT_THAT(needed, IsSubsetOf(workarounds(processor->generic))) << processor->name;
  }
}

}  // namespace
}  // namespace halyard
