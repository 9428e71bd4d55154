#include "toolchain/mlir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MlirCompilation of(const char* target) {
  return {"mlir-opt", "k.mlir", *parse_target_id(target), 5, "/tmp/kit", {}};
}

std::string pipeline_for(const char* target) {
  return mlir_to_bitcode(of(target), "out")[1];
}

TEST(Mlir, TheCommandNamesTheTargetAndTheLibraries) {
  const Command command = mlir_to_bitcode(of("gfx900"), "out.mlir");
  EXPECT_THAT(command, ElementsAre("mlir-opt", ::testing::_, "k.mlir", "-o", "out.mlir"));
  EXPECT_THAT(command[1], AllOf(HasSubstr("rocdl-attach-target{chip=gfx900 abi=500 wave64=true}"),
                                HasSubstr("convert-gpu-to-rocdl{chipset=gfx900 "),
                                HasSubstr("toolkit=/tmp/kit}")));
}

TEST(Mlir, FeaturesAreThoseThatTheTargetAsksFor) {
  EXPECT_THAT(pipeline_for("gfx90a:sramecc+:xnack-"), HasSubstr(" features=+sramecc,-xnack}"));
  EXPECT_THAT(pipeline_for("gfx90a"), Not(HasSubstr("features")));
}

TEST(Mlir, WavefrontsOf32) {
  EXPECT_THAT(pipeline_for("gfx1100"), HasSubstr("wave64=false"));
}

TEST(Mlir, AFileIsNeverTakenForAnOption) {
  MlirCompilation compilation = of("gfx900");
  compilation.input = "-k.mlir";
  EXPECT_EQ(mlir_to_bitcode(compilation, "out")[2], "./-k.mlir");
}

std::vector<std::string> texts_in(std::string_view text) {
  const auto modules = bitcode_in(text);
  std::vector<std::string> texts;
  if (!modules.ok()) {
    ADD_FAILURE() << modules.status().to_string();
    return texts;
  }
  for (const auto& bytes : *modules) {
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

TEST(Mlir, BitcodeIsOneStringForEachModule) {
  EXPECT_THAT(
      texts_in("module {\n"
               "  gpu.binary @a  [#gpu.object<#t, offload = \"BC\\C0\\DE\\\\5\\22x\\00\">]\n"
               "  func.func @f() { }\n"
               "  gpu.binary @b  [#gpu.object<#t, offload = \"\">]\n"
               "}\n"),
      ElementsAre(std::string("BC\xc0\xde\\5\"x\0", 9), ""));
  EXPECT_THAT(texts_in("module {\n}\n"), IsEmpty());
  EXPECT_THAT(texts_in("offload = \"BC\""), IsEmpty());
}

TEST(Mlir, WhatIsNotReadableIsAnError) {
  for (const char* text : {"gpu.binary @a [#gpu.object<#t, bin = \"ELF\">]",
                           "gpu.binary @a [#gpu.object<#t, offload = \"BC",
                           "gpu.binary @a [#gpu.object<#t, offload = \"BC\\",
                           "gpu.binary @a [#gpu.object<#t, offload = \"\\C\">]",
                           "gpu.binary @a [#gpu.object<#t, offload = \"\\xy\">]"}) {
    SCOPED_TRACE(text);
    const auto modules = bitcode_in(text);
    ASSERT_FALSE(modules.ok());
    EXPECT_EQ(modules.status().code(), StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace halyard::toolchain
