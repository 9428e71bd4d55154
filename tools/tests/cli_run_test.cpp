// `halyard run` on the virtual GPU: what it takes and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kAdd = {"--input=4xf32=1 2 3 4", "--input=4xf32=10 20 30 40",
                                       "--input=&4xf32", "--input=i32=4"};

std::vector<std::string> add_with(const std::vector<std::string>& more) {
  std::vector<std::string> words = kAdd;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class CliRun : public CliTest {
 protected:
  // The devices of the driver amdgpu; there may be other drivers.
  static nlohmann::json devices() {
    const Outcome outcome = spawn({"list", "devices", "--vgpu=gfx900", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    nlohmann::json all = nlohmann::json::parse(outcome.out);
    nlohmann::json devices = nlohmann::json::array();
    for (const auto& device : all) {
      if (device["uri"].get<std::string>().starts_with("amdgpu:")) devices.push_back(device);
    }
    return devices;
  }
};

TEST_F(CliRun, PrintsTheOutputOnlyBuffer) {
  // OpenCL C keeps the arguments' names, C does not.
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd", kAdd), "[2] out: 4xf32=11 22 33 44\n");
  EXPECT_EQ(run_well("vadd_c_v6", "vadd", kAdd), "[2]: 4xf32=11 22 33 44\n");
}

TEST_F(CliRun, PrintsEveryBufferIfNoneIsOutputOnly) {
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd",
                     {"--input=2xf32=1 2", "--input=2xf32=3", "--input=1x2xf32=0", "--input=i32=2",
                      "--grid=2"}),
            "[0] a: 2xf32=1 2\n[1] b: 2xf32=3 3\n[2] out: 1x2xf32=[[4 5]]\n");
}

TEST_F(CliRun, WhatIsPrintedCanBeExpectedAndPutInAgain) {
  std::string line = run_well("vadd_cl_v5", "vadd", kAdd);
  line.pop_back();
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd", add_with({"--expected-output=" + line})),
            line + "\n[2] out is as expected (4 elements, atol 1e-06, rtol 1e-05)\n");
  const std::string value = line.substr(line.find(": ") + 2);
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd",
                     {"--input=" + value, "--input=4xf32=0", "--input=&4xf32", "--input=i32=4"}),
            line + "\n");
}

TEST_F(CliRun, AnotherResultThanExpectedIsAnError) {
  const Outcome outcome =
      run("vadd_cl_v5", "vadd", add_with({"--expected-output=4xf32=11 22.5 33 45"}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "[2] out: 4xf32=11 22 33 44\n");
  EXPECT_EQ(outcome.err,
            "halyard: error: The result [2] out differs in 2 of 4 elements; the first: [1] is 22, "
            "expected 22.5; the worst: [3] is 44, expected 45 (atol 1e-06, rtol 1e-05).\n");
  run_well("vadd_cl_v5", "vadd", add_with({"--expected-output=4xf32=11 22.5 33 45", "--atol=1"}));
  run_well("vadd_cl_v5", "vadd",
           add_with({"--expected-output=4xf32=11 22.5 33 45", "--rtol=0.05"}));
}

TEST_F(CliRun, ExpectationsAreCheckedBeforeTheKernelRuns) {
  const auto expect = [&](const std::string& text) {
    const Outcome outcome = run("vadd_cl_v5", "vadd", add_with({"--expected-output=" + text}));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(expect("3xf32=0"), HasSubstr("is a buffer (3xf32), but the buffer is 4xf32"));
  EXPECT_THAT(expect("4xi32=0"), HasSubstr("is a buffer (4xi32), but the buffer is 4xf32"));
  EXPECT_THAT(expect("&4xf32"), HasSubstr("but the buffer is 4xf32"));
  EXPECT_THAT(expect("n: i32=4"), HasSubstr("[3] n, which is not a buffer"));
  EXPECT_THAT(expect("oat: 4xf32=0"), HasSubstr("Did you mean \"out\"?"));
  EXPECT_THAT(expect("4xf32=1 2 3"), HasSubstr("The expected output for [2] out: The value is"));
}

TEST_F(CliRun, ShortensLongResults) {
  const std::vector<std::string> words = {"--input=2000xf32=1", "--input=2000xf32=2",
                                          "--input=&2000xf32", "--input=i32=2000"};
  std::vector<std::string> few = words;
  few.emplace_back("--print-limit=3");
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd", few), "[2] out: 2000xf32=3 3 3 ... (1997 more)\n");
  std::vector<std::string> all = words;
  all.emplace_back("--print-limit=0");
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd", all).size(),
            std::string("[2] out: 2000xf32=\n").size() + 2 * 2000 - 1);
  EXPECT_THAT(run_well("vadd_cl_v5", "vadd", words), HasSubstr("... (1936 more)\n"));
}

TEST_F(CliRun, ReadsAndWritesFiles) {
  const std::string a = npy_input<float>("a.npy", values::ElementType::kF32, {1, 2, 3, 4});
  const std::vector<float> b = {5, 6, 7, 8};
  write_bytes(folder_ / "b.bin", {reinterpret_cast<const char*>(b.data()), 16});
  EXPECT_EQ(run_well("vadd_cl_v5", "vadd",
                     {a, "--input=4xf32=@" + (folder_ / "b.bin"), "--input=&4xf32", "--input=i32=4",
                      "--output=@" + (folder_ / "c.npy"), "--output=out:@" + (folder_ / "c.bin"),
                      "--output=a:-"}),
            "[2] out: 4xf32=@" + (folder_ / "c.npy") + "\n[2] out: 4xf32=@" + (folder_ / "c.bin") +
                "\n[0] a: 4xf32=1 2 3 4\n");
  EXPECT_THAT(npy_elements<float>("c.npy"), ElementsAre(6, 8, 10, 12));
  EXPECT_EQ(read_bytes(folder_ / "c.bin"), read_bytes(folder_ / "c.npy").substr(128));
  EXPECT_EQ(folder_.entries(), 4U);
  // Untyped bytes take the type that the kernel's source gives the buffer.
  EXPECT_EQ(
      run_well("vadd_cl_v5", "vadd",
               {"--input=@" + (folder_ / "b.bin"), "--input=4xf32=0", "--input=&4xf32",
                "--input=i32=4", "--output=[0]:-", "--expected-output=@" + (folder_ / "b.bin")}),
      "[0] a: 4xf32=5 6 7 8\n[2] out is as expected (4 elements, atol 1e-06, rtol 1e-05)\n");
}

TEST_F(CliRun, NumpysFilesAreKnownWhateverTheirNames) {
  npy_input<float>("a.npy", values::ElementType::kF32, {1, 2, 3, 4});
  const std::string array = read_bytes(folder_ / "a.npy");
  for (const char* const name : {"A.NPY", "a.bin", "a"}) {
    write_bytes(folder_ / name, array);
    EXPECT_EQ(run_well("vadd_cl_v5", "vadd",
                       {"--input=@" + (folder_ / name), "--input=4xf32=1", "--input=&4xf32",
                        "--input=i32=4", "--output=@" + (folder_ / "out.NPY")}),
              "[2] out: 4xf32=@" + (folder_ / "out.NPY") + "\n");
    EXPECT_THAT(npy_elements<float>("out.NPY"), ElementsAre(2, 3, 4, 5));
  }
  const std::vector<std::string> add = {"--input=4xf32=1", "--input=&4xf32", "--input=i32=4"};
  const auto error_with = [&](std::string input) {
    std::vector<std::string> words = {std::move(input)};
    words.insert(words.end(), add.begin(), add.end());
    const Outcome outcome = run("vadd_cl_v5", "vadd", words);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  write_bytes(folder_ / "lies.NPY", std::string(16, 'x'));
  EXPECT_THAT(error_with("--input=@" + (folder_ / "lies.NPY")),
              HasSubstr("The file is not a valid .npy file"));
  write_bytes(folder_ / "a.npz", std::string(16, 'x'));
  EXPECT_THAT(error_with("--input=@" + (folder_ / "a.npz")), HasSubstr("is an .npz file"));
  EXPECT_THAT(run("vadd_cl_v5", "vadd", add_with({"--output=@" + (folder_ / "out.npz")})).err,
              HasSubstr("--output cannot write an .npz file"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.npz"));
}

TEST_F(CliRun, AFileThatCannotBeWrittenStopsTheRun) {
  const Outcome outcome =
      run("vadd_cl_v5", "vadd", add_with({"--output=@" + (folder_ / "none/c.npy")}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("The output file (" + (folder_ / "none/c.npy") +
                                     ") cannot be written: No such file or directory."));
  EXPECT_THAT(run("vadd_cl_v5", "vadd", add_with({"--output=@" + folder_.path()})).err,
              HasSubstr("Is a directory"));
  EXPECT_THAT(run("vadd_cl_v5", "vadd", add_with({"--output=c.npy"})).err,
              HasSubstr("--output (c.npy) is neither \"-\" nor a file name after \"@\" or \"+\"."));
  EXPECT_THAT(run("vadd_cl_v5", "vadd", add_with({"--output=-", "--output=-"})).err,
              HasSubstr("There are more --output than the run has results (1)"));
}

// The old file stays if the run fails, and no part of a new one is left beside it.
TEST_F(CliRun, AFailedRunLeavesOutputFilesAlone) {
  write_bytes(folder_ / "out.bin", "old");
  const Outcome outcome =
      run("faults", "illegal_instruction",
          {"--input=&64xi32", "--grid=64", "--output=@" + (folder_ / "out.bin")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(read_bytes(folder_ / "out.bin"), "old");
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(CliRun, AFullStandardOutputIsAnError) {
  std::vector<std::string> words = {"run", "--device=amdgpu", "--vgpu=gfx900",
                                    "--module=" + kernel("vadd_cl_v5"), "--function=vadd"};
  words.insert(words.end(), kAdd.begin(), kAdd.end());
  SpawnOptions full;
  full.standard_output = "/dev/full";
  const Outcome outcome = spawn(words, full);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Standard output cannot be written: No space left"));
}

TEST_F(CliRun, GridAndWorkgroupAreAsAskedFor) {
  // Per work-item: ids, group ids, group sizes, grid sizes.
  EXPECT_THAT(
      run_well("shape_c_v6", "shape_builtin", {"--input=&2x12xu32", "--grid=2", "--workgroup=1"}),
      HasSubstr("2x12xu32=[[0 0 0 0 0 0 1 1 1 2 1 1][0 0 0 1 0 0 1 1 1 2 1 1]]"));
  EXPECT_THAT(
      run_well("shape_c_v6", "shape_builtin",
               {"--input=&12x12xu32", "--grid=3,2,2", "--workgroup=3,2,1", "--print-limit=0"}),
      HasSubstr("[2 1 0 0 0 1 3 2 1 3 2 2]]"));
  // Without --grid: one work-item for each element of the first result. The kernel could use more
  // dimensions.
  const Outcome outcome = run("shape_cl_v5", "fill_ids", {"--input=&2x3xu32", "--input=u32=7"});
  EXPECT_EQ(outcome.out, "[0] out: 2x3xu32=[[7 8 9][10 11 12]]\n");
  EXPECT_THAT(outcome.err,
              HasSubstr("halyard: note: The kernel fill_ids uses ids in 3 dimensions"));
  EXPECT_THAT(outcome.err, HasSubstr("--grid=3,2"));
}

TEST_F(CliRun, LdsArgumentsAndDynamicLds) {
  // out = reversed + reversed neighbour, in groups of 4, plus the group's id.
  EXPECT_EQ(run_well("dynamic_lds_cl", "dynamic_lds",
                     {"--input=8xu32=1 2 3 4 10 20 30 40", "--input=&8xu32", "--input=lds=16",
                      "--input=lds=32", "--workgroup=4"}),
            "[1] out: 8xu32=7 5 3 5 71 51 31 51\n");
  EXPECT_EQ(run_well("dynamic_lds_hip", "dynamic_shared",
                     {"--input=4xu32=1 2 3 4", "--input=&4xu32", "--workgroup=4", "--lds=16"}),
            "[1]: 4xu32=14 13 12 11\n");
}

TEST_F(CliRun, ARecursiveKernelGetsTheStackThatIsAskedFor) {
  for (const std::string device : {"amdgpu", "hip"}) {
    // ackermann(3, 6), 500 calls deep.
    const auto with_stack = [&](const std::string& size) {
      return spawn({"run", "--device=" + device, "--vgpu=gfx900", "--module=" + kernel("call"),
                    "--function=call_recursive", "--input=1xu32=0x36", "--input=&1xu32",
                    "--input=u32=1", "--stack=" + size});
    };
    EXPECT_EQ(with_stack("64KiB").out, "[1]: 1xu32=509\n") << device;
    const Outcome small = with_stack("1024");
    EXPECT_EQ(small.exit_code, 1) << device;
    EXPECT_THAT(small.err, AllOf(HasSubstr("of a work-item's private segment, which ends before: "
                                           "its stack has overflowed"),
                                 HasSubstr("stack_bytes"), HasSubstr("call_recursive")));
    EXPECT_THAT(with_stack("1GiB").err, HasSubstr("a whole number from 1 to 131056"));
  }
}

TEST_F(CliRun, StructsByValue) {
  // out[row * stride + column] = bias + scale * (tag + first + count * row + lead + trail)
  const std::vector<std::string> rest = {"--input=u16=100", "--input=2x3xf64=-1", "--grid=4"};
  const auto with = [&](const std::string& structure) {
    std::vector<std::string> words = {"--input=u8=10", structure};
    words.insert(words.end(), rest.begin(), rest.end());
    return run_well("struct_arg", "apply_shape", words);
  };
  const std::string expected = "[3]: 2x3xf64=[[57.25 57.75 -1][60.25 62.25 -1]]\n";
  EXPECT_EQ(with("--input={u8=1 u16=2 u32=2 u64=3 f32=0.5 f64=0.25 {u8=3 u32=6} {u8=4 u32=9}}"),
            expected);
  EXPECT_EQ(with("--input=bytes=0x"
                 "0100020002000000"
                 "0300000000000000"
                 "0000003f00000000"
                 "000000000000d03f"
                 "0300000006000000"
                 "0400000009000000"),
            expected);
}

TEST_F(CliRun, ListsTheVirtualGpu) {
  const Outcome table = spawn({"list", "devices", "--vgpu=gfx900"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  std::istringstream lines(table.out);
  std::string heading;
  std::string first;
  std::getline(lines, heading);
  std::getline(lines, first);
  EXPECT_THAT(heading, StartsWith("DEVICE"));
  EXPECT_THAT(first, StartsWith("amdgpu:0 "));
  EXPECT_THAT(first, HasSubstr(" gfx900"));

  const nlohmann::json devices = CliRun::devices();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0]["uri"], "amdgpu:0");
  EXPECT_GT(devices[0]["compute_units"], 0);
  EXPECT_GT(devices[0]["memory_bytes"], 0);
  EXPECT_THAT(devices[0]["target"].get<std::string>(), StartsWith("gfx900"));

  const auto drivers = nlohmann::json::parse(spawn({"list", "drivers", "--vgpu", "--json"}).out);
  bool found = false;
  for (const auto& candidate : drivers["candidates"]) {
    if (candidate["driver"] != "amdgpu") continue;
    found = true;
    EXPECT_EQ(candidate["stage"], "enumerated");
    EXPECT_EQ(candidate["library"], "libhsa-runtime64.so.1");
    EXPECT_TRUE(std::filesystem::exists(candidate["library_path"].get<std::string>()));
    // The rest of it depends on the release.
    EXPECT_THAT(candidate["library_uses"].get<std::string>(), HasSubstr("queue priorities"));
  }
  EXPECT_TRUE(found);
}

TEST_F(CliRun, TheProfileOfABareVgpuMayComeFromTheEnvironment) {
  SpawnOptions environment;
  environment.environment["HALYARD_VGPU_PROFILE"] = "gfx908";
  EXPECT_THAT(spawn({"list", "devices", "--vgpu"}, environment).out, HasSubstr(" gfx908"));
  EXPECT_THAT(spawn({"list", "devices", "--vgpu=gfx906"}, environment).out, HasSubstr(" gfx906"));
  environment.environment["HALYARD_VGPU_PROFILE"] = "gfx9o8";
  EXPECT_THAT(spawn({"list", "devices", "--vgpu"}, environment).err,
              HasSubstr("The profile of HALYARD_VGPU_PROFILE (gfx9o8)"));
}

TEST_F(CliRun, DevicesAreNamedByOrdinalAndUuid) {
  const nlohmann::json devices = CliRun::devices();
  ASSERT_EQ(devices.size(), 1U);
  std::vector<std::string> uris = {"amdgpu:0"};
  const std::string uuid = devices[0]["uuid"];
  if (!uuid.empty()) uris.push_back("amdgpu://" + uuid);
  for (const std::string& uri : uris) {
    std::vector<std::string> words = {"run", "--device=" + uri, "--vgpu=gfx900",
                                      "--module=" + kernel("vadd_cl_v5"), "--function=vadd"};
    words.insert(words.end(), kAdd.begin(), kAdd.end());
    EXPECT_EQ(spawn(words).out, "[2] out: 4xf32=11 22 33 44\n") << uri;
  }
}

TEST_F(CliRun, ResultsReplaceNeitherCodeNorWhatIsExpected) {
  const std::string module = folder_ / "module";
  write_bytes(module, read_bytes(kernel("vadd_c_v5")));
  const std::string before = read_bytes(module);
  std::filesystem::create_symlink("module", folder_ / "link");
  const auto add = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", "--device=amdgpu", "--vgpu=gfx900",
                                      "--module=" + module, "--function=vadd"};
    words.insert(words.end(), kAdd.begin(), kAdd.end());
    words.insert(words.end(), more.begin(), more.end());
    return spawn(words);
  };
  const std::string expected = folder_ / "expected.bin";
  ASSERT_EQ(add({"--output=@" + expected}).exit_code, 0);
  const std::vector<std::vector<std::string>> mistakes = {
      {"--output=@" + module},
      {"--output=+" + (folder_ / "link")},
      {"--profile=" + module},
      {"--output=@" + expected, "--expected-output=4xf32=@" + expected}};
  for (const auto& mistake : mistakes) {
    const Outcome outcome = add(mistake);
    EXPECT_EQ(outcome.exit_code, 1) << mistake[0];
    EXPECT_THAT(outcome.err, HasSubstr("is a file that the command reads ("));
  }
  EXPECT_EQ(read_bytes(module), before);
  EXPECT_EQ(read_bytes(expected).size(), 16u);
  EXPECT_EQ(folder_.entries(), 3u);
  const Outcome twice =
      add({"--output=[0]:@" + (folder_ / "x"), "--output=[2]:@" + (folder_ / "x")});
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_THAT(twice.err, HasSubstr("names a file that another result is written to"));
}

}  // namespace
}  // namespace halyard::testing
