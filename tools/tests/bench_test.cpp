// The library behind halyard bench, without a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tools/bench/failure.h"
#include "tools/bench/goals.h"
#include "tools/bench/measure.h"
#include "tools/bench/memory_loops.h"
#include "tools/bench/plot.h"
#include "tools/bench/results.h"

namespace halyard::testing {
namespace {

using namespace halyard::bench;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Loop loop_that(std::string name, std::function<double(uint64_t)> run) {
  Loop loop;
  loop.name = std::move(name);
  loop.row = "row of " + loop.name;
  loop.column = "HSA";
  loop.run = std::move(run);
  return loop;
}

TEST(Measure, EachLoopIsRepeatedWithItsPreparationAndItsCheck) {
  std::string order;
  Loop loop = loop_that("one", [&](uint64_t n) {
    order += "r" + std::to_string(n);
    return 7.0;
  });
  loop.prepare = [&] { order += "p"; };
  loop.check = [&] { order += "c"; };
  const auto measured = measure({loop}, {.repetitions = 3, .least_seconds = 0});
  ASSERT_THAT(measured, SizeIs(1));
  EXPECT_EQ(order, "pr1cpr1cpr1cpr1c");  // the first one is the warm-up
  EXPECT_THAT(measured[0].times, ElementsAre(7, 7, 7));
  EXPECT_EQ(measured[0].iterations, 1);
  EXPECT_TRUE(measured[0].checked);
}

TEST(Measure, ARepetitionLastsAsLongAsItIsTold) {
  const auto spin = [](uint64_t n) {
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < n * 1000; ++i) sum = sum + i;
    return 1.0;
  };
  // A thread that loses its processor while it is timed seems to need few.
  uint64_t most = 0;
  for (int i = 0; i < 10 && most <= 10; ++i) {
    most = measure({loop_that("spin", spin)}, {.repetitions = 1, .least_seconds = 0.002})[0]
               .iterations;
  }
  EXPECT_GT(most, 10);
}

TEST(Measure, ALoopThatFailsIsReportedAndTheOthersGoOn) {
  Loop wrong = loop_that("wrong", [](uint64_t) { return 1.0; });
  int checks = 0;
  wrong.check = [&] {
    if (++checks == 3) throw Failure("The result is wrong.");
  };
  const Loop good = loop_that("good", [](uint64_t) { return 2.0; });
  const auto measured = measure({wrong, good}, {.repetitions = 4, .least_seconds = 0});
  EXPECT_EQ(measured[0].error, "The result is wrong.");
  EXPECT_THAT(measured[0].times, IsEmpty());
  EXPECT_FALSE(measured[0].checked);
  EXPECT_EQ(checks, 3);
  EXPECT_EQ(measured[1].error, "");
  EXPECT_THAT(measured[1].times, SizeIs(4));
}

TEST(Measure, ResultsAreNotLookedAtWhereNothingIsExecuted) {
  Loop loop = loop_that("one", [](uint64_t) { return 1.0; });
  loop.check = [] { throw Failure("never"); };
  const auto measured = measure({loop}, {.repetitions = 2, .least_seconds = 0, .checks = false});
  EXPECT_EQ(measured[0].error, "");
  EXPECT_FALSE(measured[0].checked);
}

TEST(Measure, TheMedianOfAnEvenNumberIsBetweenTheMiddleTwo) {
  Measurement one;
  EXPECT_EQ(one.median(), 0);
  one.times = {1, 2, 4, 100};
  EXPECT_EQ(one.median(), 3);
  one.times = {1, 2, 4};
  EXPECT_EQ(one.median(), 2);
}

// Memory of the host, and mistakes that a copy may make.
class HostApi final : public MemoryApi {
 public:
  enum class Mistake : uint8_t { kNone, kNoCopy, kLastWord, kFillsHalf };

  explicit HostApi(Mistake mistake) : mistake_(mistake) {
    for (auto& block : blocks_) block.resize(kBlockBytes);
  }
  bool has_peer() const override { return true; }
  void* host() override { return at(Block::kHost); }
  void copy(Block from, Block to, uint64_t bytes) override {
    // What fills the source of a copy and brings its result back is right.
    const bool measured = from == Block::kDevice && to == Block::kOther;
    if (measured && mistake_ == Mistake::kNoCopy) return;
    if (measured && mistake_ == Mistake::kLastWord) bytes -= 4;
    std::memcpy(at(to), at(from), bytes);
  }
  void fill(uint32_t pattern, uint64_t bytes) override {
    if (mistake_ == Mistake::kFillsHalf) bytes /= 2;
    for (uint64_t i = 0; i < bytes; i += 4) std::memcpy(at(Block::kDevice) + i, &pattern, 4);
  }
  void allocate_and_free(uint64_t) override { ++allocations; }

  int allocations = 0;

 private:
  char* at(Block block) { return blocks_[static_cast<size_t>(block)].data(); }

  const Mistake mistake_;
  std::vector<char> blocks_[4];
};

std::map<std::string, std::string> errors_of(HostApi::Mistake mistake) {
  HostApi api(mistake);
  Loops loops;
  add_memory_loops(loops, api, "test", "HSA");
  std::map<std::string, std::string> errors;
  for (const Measurement& one : measure(loops, {.repetitions = 2, .least_seconds = 0})) {
    errors[one.name] = one.error;
  }
  EXPECT_GT(api.allocations, 0);
  return errors;
}

TEST(MemoryLoops, AreRightOnMemoryThatIs) {
  const auto errors = errors_of(HostApi::Mistake::kNone);
  for (const char* name : {"test_copy_h2d_4KiB", "test_copy_d2h_16MiB", "test_copy_d2d_64KiB",
                           "test_copy_d2p_1MiB", "test_fill_1MiB", "test_allocate_64MiB"}) {
    EXPECT_EQ(errors.count(name), 1U) << name;
  }
  for (const auto& [name, error] : errors) EXPECT_EQ(error, "") << name;
}

TEST(MemoryLoops, FindACopyThatCopiesNothing) {
  for (const auto& [name, error] : errors_of(HostApi::Mistake::kNoCopy)) {
    if (name.find("d2d") == std::string::npos) {
      EXPECT_EQ(error, "") << name;
    } else {
      EXPECT_THAT(error, HasSubstr("has left a wrong word")) << name;
    }
  }
}

TEST(MemoryLoops, FindTheLastWord) {
  const auto errors = errors_of(HostApi::Mistake::kLastWord);
  EXPECT_THAT(errors.at("test_copy_d2d_4KiB"), HasSubstr("at byte 4092"));
}

TEST(MemoryLoops, FindAFillThatEndsEarly) {
  const auto errors = errors_of(HostApi::Mistake::kFillsHalf);
  EXPECT_THAT(errors.at("test_fill_4KiB"), HasSubstr("at byte 2048"));
}

Measurement measured(std::string name, std::vector<double> times) {
  Measurement one;
  one.name = std::move(name);
  one.row = "row <&> of " + one.name;
  one.column = "HSA";
  one.times = std::move(times);
  return one;
}

Results results_with(std::vector<Measurement> measurements) {
  Results results;
  results.gpu_name = "A & B";
  results.repetitions = 3;
  results.columns = {{"HSA", "", "/lib", ""}, {"HIP", "", "", "There is none."}};
  results.measurements = std::move(measurements);
  return results;
}

TEST(Results, JsonComesBackAsItWas) {
  Results results = results_with({measured("a", {1, 2, 3}), measured("b", {})});
  results.measurements[1].error = "It has failed.";
  results.measurements[0].checked = true;
  const std::string text = to_json(results).dump();
  const auto again = parse_results(text);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(to_json(*again).dump(), text);
  EXPECT_EQ(again->measurements[0].median(), 2);
  EXPECT_EQ(again->columns[1].absent, "There is none.");
}

TEST(Results, TextThatIsNoneIsRefused) {
  for (const char* text :
       {"", "{", "[]", "{\"halyard\": 1}", "null", "{\"halyard\": \"1\", \"gpu\": {}}"}) {
    const auto results = parse_results(text);
    ASSERT_FALSE(results.ok()) << text;
    EXPECT_EQ(results.status().code(), StatusCode::kInvalidArgument);
  }
  std::string text = to_json(results_with({measured("a", {1})})).dump();
  text.replace(text.find("[1.0]"), 5, "[-1.0]");
  EXPECT_FALSE(parse_results(text).ok());
}

TEST(Results, AChangeIsClearIfTheMiddleHalvesAreApart) {
  const Results before =
      results_with({measured("far", {10, 11, 12, 13, 14}), measured("near", {10, 11, 12, 13, 14}),
                    measured("gone", {1})});
  const Results after = results_with({measured("near", {1, 12, 13, 14, 50}),
                                      measured("far", {1, 20, 24, 26, 28}), measured("new", {1})});
  const std::vector<Change> changes = compare(before, after);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].name, "far");
  EXPECT_EQ(changes[0].ratio(), 2);
  EXPECT_TRUE(changes[0].is_clear);
  EXPECT_EQ(changes[1].name, "near");
  EXPECT_FALSE(changes[1].is_clear);
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Plot, HasABarForEachMeasurementAndEscapesText) {
  const std::string svg = to_svg(results_with(
      {measured("a", {10, 20, 30}), measured("b", {1e5, 2e5}), measured("failed", {})}));
  EXPECT_EQ(count(svg, "<title>"), 2U);
  EXPECT_THAT(svg, HasSubstr("row &lt;&amp;&gt; of a, HSA: 20.0 ns (10.0 ns to 30.0 ns)"));
  EXPECT_THAT(svg, HasSubstr("A &amp; B"));
  EXPECT_THAT(svg, HasSubstr(">100 us<"));
  EXPECT_THAT(svg, Not(HasSubstr("of failed")));
  EXPECT_THAT(svg, Not(HasSubstr("HIP")));
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(Goals, CompareWhatHasRun) {
  const std::string text = compare_with_goals({measured("bare_burst", {20, 20, 20}),
                                               measured("halyard_burst", {10, 10, 10}),
                                               measured("replay_burst", {18, 18, 18})});
  EXPECT_THAT(text, HasSubstr("dispatch, burst: bare HSA 20.0 ns, amdgpu 10.0 ns, ratio 0.500 "
                              "(goal <= 1.3: met)\n"));
  EXPECT_THAT(text, HasSubstr("ratio 0.900 (goal <= 0.5: MISSED)"));
  EXPECT_THAT(text, Not(HasSubstr("HIP")));
}

}  // namespace
}  // namespace halyard::testing
