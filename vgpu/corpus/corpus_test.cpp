// Every kernel of the corpus, on the engine and on the host.
//
//   --objects=FOLDER   where the code objects are, in place of the build's
//   --kernels=LIBRARY  a shared library with the host's build of more kernels (random_kernels.py)

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/corpus/case.h"
#include "vgpu/corpus/code_object.h"
#include "vgpu/corpus/compare.h"
#include "vgpu/corpus/host_result.h"
#include "vgpu/observe/wait_check.h"
#include "vgpu/races/race_check.h"

namespace halyard::vgpu::corpus {
namespace {

namespace fs = std::filesystem;

std::string objects_folder = HALYARD_CORPUS_OBJECTS;

// <source>.<processor>.O<level>.hsaco
struct Object {
  fs::path path;
  std::string processor;
};

std::vector<Object> objects_of(const CorpusCase& one) {
  const std::string start = fs::path(one.file).filename().string() + ".";
  std::vector<Object> objects;
  for (const fs::directory_entry& entry : fs::directory_iterator(objects_folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".hsaco" || name.rfind(start, 0) != 0) continue;
    objects.push_back(
        {entry.path(), name.substr(start.size(), name.find('.', start.size()) - start.size())});
  }
  std::sort(objects.begin(), objects.end(),
            [](const Object& a, const Object& b) { return a.path < b.path; });
  return objects;
}

class Corpus : public testing::TestWithParam<CorpusCase*> {
 protected:
  // Runs each build of the kernel, and compares with the host.
  void run(const std::vector<isa::Observer*>& observers);
};

void Corpus::run(const std::vector<isa::Observer*>& observers) {
  const CorpusCase& one = *GetParam();
  const HostResult host = run_on_host(one);
  const std::vector<Object> objects = objects_of(one);
  ASSERT_THAT(objects, testing::SizeIs(24)) << objects_folder;  // 6 processors, 4 levels
  for (const Object& object : objects) {
    SCOPED_TRACE(object.path.filename().string() + ", kernel " + one.name);
    isa::EngineOptions options;
    options.processor = object.processor;
    options.observers = observers;
    isa::testing::Machine machine(options);
    auto* const gpu_in = machine.allocate<uint32_t>(one.words_in);
    auto* const gpu_out = machine.allocate<uint32_t>(one.words_out);
    auto* const gpu_work = machine.allocate<uint32_t>(one.words_work);
    std::copy(host.in.begin(), host.in.end(), gpu_in);
    std::fill_n(gpu_out, one.words_out, one.initial);

    std::string error;
    CodeObject code(machine, object.path, error);
    ASSERT_EQ(error, "");
    ASSERT_TRUE(code.has(one.name));
    Launch launch;
    std::copy(std::begin(one.items), std::end(one.items), launch.items);
    std::copy(std::begin(one.groups), std::end(one.groups), launch.groups);
    launch.arguments = {isa::testing::address_of(gpu_in), isa::testing::address_of(gpu_out),
                        isa::testing::address_of(gpu_work), one.n};
    launch.arguments.insert(launch.arguments.end(), one.more, one.more + one.more_count);
    const isa::DispatchResult result = code.run(one.name, launch);
    EXPECT_EQ(result.fault.kind, isa::Fault::Kind::kNone) << result.report;
    const std::string wrong = differences(host.out, gpu_out, one.compare, one.ulps);
    EXPECT_TRUE(wrong.empty()) << wrong;
  }
}

TEST_P(Corpus, EngineAgreesWithHost) {
  run({});
}

// What clang makes has every s_waitcnt that it needs.
TEST_P(Corpus, LacksNoWait) {
  std::mutex mutex;
  std::string findings;
  observe::WaitCheck check([](uint64_t) { return std::string(GetParam()->name); },
                           [&](std::string_view text) {
                             const std::lock_guard lock(mutex);
                             findings += text;
                           });
  run({&check});
  EXPECT_EQ(findings, "");
}

// The kernels are written without races, also those that wait for each other.
TEST_P(Corpus, HasNoRace) {
  std::mutex mutex;
  std::string findings;
  const auto add = [&](std::string_view text) {
    const std::lock_guard lock(mutex);
    findings += text;
  };
  races::RaceCheck check({.names = [](uint64_t) { return std::string(GetParam()->name); },
                          .report = add,
                          .warn = add,
                          .describe = {}});
  run({&check});
  EXPECT_EQ(findings, "");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Corpus, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<CorpusCase*>& info) {
                           return std::string(info.param->name);
                         });

}  // namespace

// Returns the program's exit code.
int run(int argc, char** argv) {
  constexpr std::string_view kObjects = "--objects=", kKernels = "--kernels=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kObjects.size()) == kObjects)
      objects_folder = argument.substr(kObjects.size());
    if (argument.substr(0, kKernels.size()) != kKernels) continue;
    // Its constructors register the kernels.
    const std::string library(argument.substr(kKernels.size()));
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace halyard::vgpu::corpus

int main(int argc, char** argv) {
  return halyard::vgpu::corpus::run(argc, argv);
}
