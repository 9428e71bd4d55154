// Seeded mistakes: the coherence check is silent on each right program, and finds the one mistake
// of its twin with the words that name it. Each program runs on the unmodified HSA runtime, in a
// process of its own: the check is chosen when the runtime starts, and tells of a pair of places
// once.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "vgpu/coherence/tests/seeds.h"

namespace halyard::vgpu::coherence::testing {

void PrintTo(const Seed& seed, std::ostream* out) {
  *out << seed.name;
}

namespace {

using ::testing::ContainsRegex;

// Of HALYARD_VGPU_PROFILE; of a file, its name is the profile's.
Machine machine() {
  const char* const profile = std::getenv("HALYARD_VGPU_PROFILE");
  const std::string name = profile != nullptr ? profile : "gfx900";
  if (name == "two-gfx90a") return {{"gfx90a", "gfx90a"}};
  if (name.ends_with("/two-gfx942.yaml")) return {{"gfx942", "gfx942"}};
  if (name == "mi300x") return {{"gfx942"}, 8};
  if (name == "mi350x") return {{"gfx950"}, 8};
  if (name == "mixed") return {{"gfx900", "gfx906", "gfx908", "gfx90a"}};
  return {{name}};
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Seeded : public ::testing::TestWithParam<Seed> {
 protected:
  // What the check finds in the seed's program.
  std::string findings(bool mistake) {
    const std::string file = ::testing::TempDir() + "/seeded." + std::to_string(getpid());
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      setenv("HALYARD_VGPU_CHECK", file.c_str(), 1);
      setenv("HALYARD_VGPU_CHECKS", "coherence", 1);
      // As with halyard vgpu exec --check: each allocation is one of the machine's.
      setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 1);
      // The findings go there too.
      const int log = open((file + ".log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      dup2(log, STDERR_FILENO);
      Program program;
      GetParam().program(program, machine(), mistake);
      std::_Exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << contents(file + ".log");
    const std::string found = contents(file);
    std::remove(file.c_str());
    std::remove((file + ".log").c_str());
    return found;
  }
};

TEST_P(Seeded, ProgramIsSilent) {
  EXPECT_EQ(findings(false), "");
}

TEST_P(Seeded, MistakeIsNamed) {
  const std::string found = findings(true);
  if (!GetParam().found) {
    EXPECT_EQ(found, "");
    return;
  }
  const std::string begin = "halyard vgpu: check: ";
  std::vector<std::string> lines;
  for (size_t at = 0; at < found.size();) {
    const size_t end = found.find('\n', at);
    lines.push_back(found.substr(at, end - at));
    at = end + 1;
  }
  size_t count = 0;
  for (const std::string& line : lines) count += line.starts_with(begin);
  ASSERT_EQ(count, 1u) << found;
  const Words& words = GetParam().words;
  EXPECT_THAT(lines[0], ContainsRegex("^" + begin + words.where));
  EXPECT_THAT(lines[1], ContainsRegex("^  " + words.access));
  EXPECT_THAT(lines[2], ContainsRegex("^  " + words.history));
  EXPECT_THAT(lines[3], ContainsRegex("^  missing: " + words.missing));
}

INSTANTIATE_TEST_SUITE_P(All, Seeded, ::testing::ValuesIn(seeds(machine())),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
