// `halyard objdump`: what is in a module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliObjdump : public CliTest {
 protected:
  static Outcome objdump(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"objdump"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  }
  static nlohmann::json json_of(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    words.emplace_back("--json");
    const Outcome outcome = objdump(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }
};

TEST_F(CliObjdump, ListsEveryTargetOfAFatFile) {
  const Outcome outcome = objdump({kernel("vadd_c_v6")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(": offload bundle, "), HasSubstr(", zstd (header version 3), "),
                    HasSubstr("\n  gfx90a: code object version 6 ("),
                    HasSubstr("\n  gfx9-generic: code object version 6, generic version 1 (")));
}

TEST_F(CliObjdump, ShowsArgumentsRegistersSegmentsAndOccupancy) {
  const Outcome outcome = objdump({kernel("arguments"), "--target=gfx90a"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\n    arguments\n"), HasSubstr(" VGPRs, "), HasSubstr(" SGPRs\n"),
                    HasSubstr("      LDS 0 bytes, scratch 0 bytes, kernarg 416 bytes aligned to"),
                    HasSubstr("      occupancy with work-groups of 256: 8 of 8 waves on a SIMD"),
                    HasSubstr("\n      36      4     by_value                 float    f\n"),
                    HasSubstr("hidden block_count_x")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("gfx900")));
}

TEST_F(CliObjdump, JsonHasTheSame) {
  const nlohmann::json json = json_of({kernel("arguments"), "--target=gfx90a"});
  EXPECT_EQ(json["format"], "offload bundle");
  ASSERT_EQ(json["variants"].size(), 1u);
  const nlohmann::json& variant = json["variants"][0];
  EXPECT_EQ(variant["target"], "gfx90a");
  EXPECT_EQ(variant["version"], 5);
  ASSERT_EQ(variant["kernels"].size(), 1u);
  const nlohmann::json& found = variant["kernels"][0];
  EXPECT_EQ(found["name"], "arguments");
  EXPECT_EQ(found["kernarg_bytes"], 416);
  EXPECT_EQ(found["arguments"].size(), 19u);
  EXPECT_EQ(found["arguments"][9]["name"], "f");
  EXPECT_EQ(found["arguments"][9]["type"], "float");
  EXPECT_EQ(found["occupancy"]["waves_per_simd"], 8);
}

TEST_F(CliObjdump, TheWorkGroupDecidesTheOccupancyOfLds) {
  // 16x16 work-items are required; LDS for 16 or more work-groups fits no unit.
  const nlohmann::json required = json_of({kernel("matmul"), "--target=gfx900"});
  const nlohmann::json& held = required["variants"][0]["kernels"][0]["occupancy"];
  EXPECT_EQ(held["workgroup_size"], 256);
  const nlohmann::json asked = json_of({kernel("matmul"), "--target=gfx900", "--workgroup=1024"});
  EXPECT_EQ(asked["variants"][0]["kernels"][0]["occupancy"]["workgroup_size"], 1024);
  EXPECT_LT(asked["variants"][0]["kernels"][0]["occupancy"]["groups_per_compute_unit"],
            held["groups_per_compute_unit"]);
}

TEST_F(CliObjdump, ChoosesKernels) {
  const Outcome outcome =
      objdump({kernel("entry_points"), "--target=gfx90a", "--function=entry_0_3"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("    entry_0_3\n"), Not(HasSubstr("entry_0_4"))));
  const Outcome missing = objdump({kernel("entry_points"), "--function=entry_9_9"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("entry_9_9"));
}

TEST_F(CliObjdump, TakesPlainCodeObjectsAndFolders) {
  write_bytes(folder_ / "a.hsaco", plain_kernel("vadd_c_v6", "gfx90a"));
  write_bytes(folder_ / "notes.txt", "hello");
  EXPECT_THAT(objdump({folder_ / "a.hsaco"}).out,
              AllOf(HasSubstr("a.hsaco: code object, 1 code object\n"),
                    HasSubstr("  gfx90a: code object version 6 (")));
  EXPECT_THAT(objdump({folder_.path()}).out,
              AllOf(HasSubstr(": folder, 1 code object\n"), HasSubstr("no code object: notes.txt"),
                    HasSubstr("a.hsaco")));
}

TEST_F(CliObjdump, MistakesAreNamed) {
  EXPECT_THAT(objdump({"/nonexistent/file"}).err, HasSubstr("/nonexistent/file"));
  write_bytes(folder_ / "text", "hello");
  EXPECT_EQ(objdump({folder_ / "text"}).exit_code, 1);
  const std::string whole = plain_kernel("vadd_c_v6", "gfx90a");
  write_bytes(folder_ / "short", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(objdump({folder_ / "short"}).out + objdump({folder_ / "short"}).err,
              AllOf(HasSubstr("truncated"), HasSubstr("offset")));
  EXPECT_THAT(objdump({kernel("vadd_c_v6"), "--target=gfx803"}).err,
              AllOf(HasSubstr("has no code for the target (gfx803)"), HasSubstr("gfx90a")));
  EXPECT_THAT(objdump({kernel("vadd_c_v6"), "--workgroup=2000"}).err, HasSubstr("2000"));
}

TEST_F(CliObjdump, ATargetThatThereIsNotIsSaidToBeThat) {
  const auto dump = [](const std::string& target) {
    return spawn({"objdump", kernel("vadd_c_v6"), "--target=" + target});
  };
  const Outcome nonsense = dump("nonsense");
  EXPECT_EQ(nonsense.exit_code, 1);
  EXPECT_THAT(nonsense.err, HasSubstr("The target map has no entry named (nonsense)"));
  EXPECT_THAT(dump("gfx90b").err, HasSubstr("Did you mean \"gfx90"));
  EXPECT_THAT(dump("gfx803").err, HasSubstr("has no code for the target (gfx803). It has gfx900"));
  EXPECT_THAT(dump("w7900").err,
              HasSubstr("has no code for the target (w7900, which is gfx1100). It has gfx900"));
  // A product stands for its processor.
  EXPECT_EQ(dump("mi210").exit_code, 0);
  EXPECT_EQ(dump("mi210").out, dump("gfx90a").out);
}

TEST_F(CliObjdump, AWorkGroupsSizeHasARange) {
  for (const char* const size : {"0", "1025", "-1", "x"}) {
    const Outcome outcome =
        spawn({"objdump", kernel("vadd_c_v6"), std::string("--workgroup=") + size});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err,
                HasSubstr("(" + std::string(size) + ") is not a whole number from 1 to 1024"));
  }
}

}  // namespace
}  // namespace halyard::testing
