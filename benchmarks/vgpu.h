// What the parts of halyard-bench-vgpu share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halyard::bench {

// A run that only shows that everything still works: tiny sizes, one iteration.
struct VgpuOptions {
  bool smoke = false;
};

// Something to measure, with its data. Making one compares its results with those expected, and
// ends the program if they differ.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual void run() = 0;
  // Wave-instructions of one run; 0 where they are not counted.
  virtual double instructions() const { return 0; }
  // Of what the last run has stored.
  virtual uint64_t digest() = 0;
};

struct Benchmark {
  std::string name;
  std::function<std::unique_ptr<Subject>()> make;
  bool every_core = false;
};

// FNV-1a.
uint64_t digest_of(const void* bytes, size_t count);

// Loops of one instruction class each.
void add_class_benchmarks(std::vector<Benchmark>& benchmarks, const VgpuOptions& options);

// Whole kernels, each on the host and on the virtual GPU.
void add_kernel_benchmarks(std::vector<Benchmark>& benchmarks, const VgpuOptions& options);

// Measures what standard input names, and answers on standard output: for compare_builds(). Returns
// the program's exit code.
int serve(const std::vector<Benchmark>& benchmarks);

struct Comparison {
  std::string other;   // the other build's halyard-bench-vgpu
  std::string filter;  // a regular expression for names; empty: all
  unsigned rounds = 9;
};

// Measures this build and another, benchmark by benchmark and in turn. Returns the program's exit
// code: 1 if a result differs or the other build cannot be run.
int compare_builds(const Comparison& comparison);

}  // namespace halyard::bench
