#include "tools/bench/measure.h"

#include <algorithm>
#include <exception>
#include <random>

#include "tools/bench/failure.h"
#include "tools/bench/timing.h"

namespace halyard::bench {

void fail(const Status& status) {
  throw Failure(status.to_string());
}

namespace {

constexpr uint64_t kMostIterations = uint64_t{1} << 32;

// One repetition; it ends with the loop's results looked at.
double repeat(const Loop& loop, uint64_t iterations, bool checks) {
  if (loop.prepare) loop.prepare();
  const double time = loop.run(iterations);
  if (checks && loop.check) loop.check();
  return time;
}

// How many iterations take as long as a repetition should. This is the warm-up as well.
uint64_t calibrate(const Loop& loop, const MeasureOptions& options) {
  uint64_t iterations = 1;
  for (;;) {
    const double begin = wall_ns();
    repeat(loop, iterations, options.checks);
    const double seconds = (wall_ns() - begin) * 1e-9;
    if (seconds >= options.least_seconds || iterations >= kMostIterations) return iterations;
    const double missing = seconds > 0 ? 1.4 * options.least_seconds / seconds : 10;
    iterations =
        static_cast<uint64_t>(static_cast<double>(iterations) * std::clamp(missing, 1.5, 10.0)) + 1;
  }
}

// Runs `what`; a failure is the end of the loop.
template <typename What>
void attempt(Measurement& measurement, What what) {
  try {
    what();
  } catch (const std::exception& failure) {
    measurement.error = failure.what();
    measurement.times.clear();
  }
}

}  // namespace

double Measurement::median() const {
  if (times.empty()) return 0;
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

std::vector<Measurement> measure(const Loops& loops, const MeasureOptions& options) {
  std::vector<Measurement> measurements;
  std::vector<size_t> order;
  const size_t all = loops.size() * (options.repetitions + 1);
  size_t done = 0;
  const auto next = [&] {
    if (options.progress) options.progress(done, all);
    ++done;
  };
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = loops[i];
    Measurement& measurement = measurements.emplace_back();
    measurement.name = loop.name;
    measurement.row = loop.row;
    measurement.column = loop.column;
    measurement.bytes = loop.bytes;
    next();
    attempt(measurement, [&] { measurement.iterations = calibrate(loop, options); });
    order.insert(order.end(), options.repetitions, i);
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (const size_t i : order) {
    Measurement& measurement = measurements[i];
    next();
    if (!measurement.error.empty()) continue;
    attempt(measurement, [&] {
      measurement.times.push_back(repeat(loops[i], measurement.iterations, options.checks));
    });
  }
  for (size_t i = 0; i < loops.size(); ++i) {
    std::sort(measurements[i].times.begin(), measurements[i].times.end());
    measurements[i].checked = options.checks && loops[i].check && measurements[i].error.empty();
  }
  return measurements;
}

}  // namespace halyard::bench
