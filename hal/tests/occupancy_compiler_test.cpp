// Occupancy as Clang prints it into its assembler output ("; Occupancy: 5"), and ours of the
// registers that the same output gives.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "hal/occupancy.h"

namespace halyard {
namespace {

// A kernel that keeps `live` values in registers.
constexpr const char* kSource = R"(
__attribute__((amdgpu_kernel)) void keep(__attribute__((address_space(1))) float* p, int n) {
  float a[LIVE];
  for (int i = 0; i < LIVE; ++i) a[i] = p[__builtin_amdgcn_workitem_id_x() + i * n];
  for (int r = 0; r < n; ++r)
    for (int i = 0; i < LIVE; ++i) a[i] = a[i] * a[(i + 7) % LIVE] + p[r];
  for (int i = 0; i < LIVE; ++i) p[__builtin_amdgcn_workitem_id_x() + i * n + 1] = a[i];
}
)";

struct FileCloser {
  void operator()(std::FILE* file) const { pclose(file); }
};

std::optional<uint32_t> number_behind(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return static_cast<uint32_t>(std::strtoul(text.c_str() + at + key.size(), nullptr, 10));
}

class OccupancyAgainstCompiler : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string assembler(const char* processor, int live, const std::string& source) {
    const std::string command =
        std::string(HALYARD_CLANG) +
        " -target amdgcn-amd-amdhsa -nogpulib -O3 -S -o - -mcpu=" + processor +
        " -DLIVE=" + std::to_string(live) + " " + source;
    const std::unique_ptr<std::FILE, FileCloser> pipe(popen(command.c_str(), "r"));
    std::string text;
    char part[4096];
    while (pipe && std::fgets(part, sizeof part, pipe.get()) != nullptr) text += part;
    return text;
  }
};

TEST_P(OccupancyAgainstCompiler, IsTheSame) {
  if (std::string(HALYARD_CLANG).empty()) GTEST_SKIP() << "clang-22 is not installed";
  std::string source = ::testing::TempDir() + "halyard-occupancy-XXXXXX.c";
  const int file = mkstemps(source.data(), 2);
  ASSERT_GE(file, 0);
  close(file);
  std::ofstream(source) << kSource;
  for (const int live : {4, 24, 40, 60, 100}) {
    const std::string text = assembler(GetParam(), live, source);
    const auto expected = number_behind(text, "; Occupancy:");
    const auto vgprs = number_behind(text, ".vgpr_count:");
    const auto sgprs = number_behind(text, ".sgpr_count:");
    const auto wavefront = number_behind(text, ".wavefront_size:");
    ASSERT_TRUE(expected && vgprs && sgprs && wavefront) << text;
    const auto found = occupancy(GetParam(), {*vgprs, *sgprs, 0, *wavefront, *wavefront});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->waves_per_simd, *expected) << live << " values: " << *vgprs << " VGPRs, "
                                                << *sgprs << " SGPRs, wavefronts of " << *wavefront;
  }
  unlink(source.c_str());
}

INSTANTIATE_TEST_SUITE_P(Processors, OccupancyAgainstCompiler,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1102",
                                           "gfx1151", "gfx1200", "gfx9-generic", "gfx9-4-generic",
                                           "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic",
                                           "gfx12-generic"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace halyard
