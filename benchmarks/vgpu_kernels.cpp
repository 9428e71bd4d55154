// Whole kernels (kernels/whole.c) on the virtual GPU, with one thread and with one for each core,
// and the same source compiled for the host at -O3.

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/vgpu.h"
#include "benchmarks/vgpu_engine.h"
#include "vgpu/isa/tests/machine.h"

extern "C" {
void copy_on_host(unsigned group, const float* in, float* out);
void saxpy_on_host(unsigned group, const float* x, float* y, float a);
void sgemm_lds_on_host(unsigned group, const float* a, const float* b, float* c, unsigned n);
void sgemm_mfma_on_host(unsigned group, const float* a, const float* b, float* c, unsigned n);
void nbody_on_host(unsigned group, const float* bodies, float* out, unsigned n);
void reduction_on_host(unsigned group, const float* in, float* out);
void mandelbrot_on_host(unsigned group, uint32_t* out, unsigned width, unsigned limit);
}

asm(R"(
  .section .rodata
  .balign 64
  .global kHalyardBenchWhole
kHalyardBenchWhole:
  .incbin ")" HALYARD_BENCH_WHOLE R"("
  .global kHalyardBenchWholeEnd
kHalyardBenchWholeEnd:
  .byte 0
  .previous
)");
extern "C" const char kHalyardBenchWhole[];
extern "C" const char kHalyardBenchWholeEnd[];

namespace halyard::bench {
namespace {

using vgpu::isa::Dispatch;
using vgpu::isa::testing::address_of;
using vgpu::isa::testing::Machine;

constexpr uint32_t kGroup = 256;

// The code object in memory that the engine may read. It needs no relocation: kernels of one file
// reach everything relative to themselves.
class LoadedFile {
 public:
  explicit LoadedFile(Machine& machine) {
    const auto* const file = kHalyardBenchWhole;
    Elf64_Ehdr header;
    std::memcpy(&header, file, sizeof header);
    uint64_t end = 0;
    for_each<Elf64_Phdr>(header.e_phoff, header.e_phnum, [&](const Elf64_Phdr& segment) {
      if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
    });
    image_ = machine.allocate<char>(end);
    for_each<Elf64_Phdr>(header.e_phoff, header.e_phnum, [&](const Elf64_Phdr& segment) {
      if (segment.p_type == PT_LOAD)
        std::memcpy(image_ + segment.p_vaddr, file + segment.p_offset, segment.p_filesz);
    });
    for_each<Elf64_Shdr>(header.e_shoff, header.e_shnum, [&](const Elf64_Shdr& section) {
      if (section.sh_type != SHT_DYNSYM) return;
      Elf64_Shdr names;
      std::memcpy(&names, file + header.e_shoff + section.sh_link * sizeof names, sizeof names);
      for_each<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym),
                          [&](const Elf64_Sym& symbol) {
                            const char* const name = file + names.sh_offset + symbol.st_name;
                            symbols_[name] = symbol.st_value;
                          });
    });
  }

  const char* descriptor(const std::string& kernel) const {
    return image_ + symbols_.at(kernel + ".kd");
  }

 private:
  template <class T>
  static void for_each(uint64_t offset, uint64_t count, const std::function<void(const T&)>& f) {
    for (uint64_t n = 0; n < count; ++n) {
      T entry;
      std::memcpy(&entry, kHalyardBenchWhole + offset + n * sizeof entry, sizeof entry);
      f(entry);
    }
  }

  char* image_ = nullptr;
  std::map<std::string, uint64_t> symbols_;
};

// Arguments as they lie in the kernarg segment: each at its own alignment.
class Arguments {
 public:
  template <class T>
  void add(T value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value);
    bytes_.resize(bytes_.size() + sizeof value);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof value, &value, sizeof value);
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

// One kernel with its data: set up once, run again and again.
struct Case {
  const char* name;
  uint32_t groups = 0;
  Arguments arguments;
  std::function<void(uint32_t group)> on_host;
  void* result = nullptr;
  size_t result_words = 0;
  enum class Compare : uint8_t {
    kExact,
    kNearly,  // within 1e-3 of the host's, relative to 1 or more
    kCounts,  // integers; one in 50 may differ, as the device fuses multiplications and additions
  };
  Compare compare = Compare::kNearly;
};

struct Sizes {
  uint32_t vector, matrix, matrix_mfma, bodies, image, limit;
};

// Numbers between 0 and 1.
float* numbers(Machine& machine, size_t count) {
  auto* const all = machine.allocate<float>(count);
  for (size_t n = 0; n < count; ++n)
    all[n] = static_cast<float>(n * 2654435761u % 65536u) * 0x1p-16f;
  return all;
}

// Fills a case's arguments and its function for the host from the same list.
template <class... A>
void set(Case& c, void (*host)(unsigned, A...), A... arguments) {
  (c.arguments.add(arguments), ...);
  c.on_host = [=](uint32_t group) { host(group, arguments...); };
}

Case make_case(Machine& machine, const char* name, const Sizes& sizes) {
  const std::string_view kind = name;
  Case c;
  c.name = name;
  const auto result = [&](size_t words) {
    auto* const out = machine.allocate<float>(words);
    c.result = out;
    c.result_words = words;
    return out;
  };
  if (kind == "copy") {
    c.groups = sizes.vector / kGroup;
    c.compare = Case::Compare::kExact;
    set(c, copy_on_host, static_cast<const float*>(numbers(machine, sizes.vector)),
        result(sizes.vector));
  } else if (kind == "saxpy") {
    c.groups = sizes.vector / kGroup;
    set(c, saxpy_on_host, static_cast<const float*>(numbers(machine, sizes.vector)),
        result(sizes.vector), 0.25f);
  } else if (kind == "sgemm_lds" || kind == "sgemm_mfma") {
    const bool lds = kind == "sgemm_lds";
    const uint32_t n = lds ? sizes.matrix : sizes.matrix_mfma;
    c.groups = n / 16 * (n / (lds ? 16 : 64));
    const float* const a = numbers(machine, size_t{n} * n);
    const float* const b = numbers(machine, size_t{n} * n);
    set(c, lds ? sgemm_lds_on_host : sgemm_mfma_on_host, a, b, result(size_t{n} * n), n);
  } else if (kind == "nbody") {
    c.groups = sizes.bodies / kGroup;
    set(c, nbody_on_host, static_cast<const float*>(numbers(machine, size_t{sizes.bodies} * 4)),
        result(size_t{sizes.bodies} * 4), sizes.bodies);
  } else if (kind == "reduction") {
    c.groups = sizes.vector / kGroup / 16;
    set(c, reduction_on_host, static_cast<const float*>(numbers(machine, sizes.vector)),
        result(c.groups));
  } else {
    c.groups = sizes.image * sizes.image / kGroup;
    float* const out = result(size_t{sizes.image} * sizes.image);
    set(c, mandelbrot_on_host, reinterpret_cast<uint32_t*>(out), sizes.image, sizes.limit);
    c.compare = Case::Compare::kCounts;
  }
  return c;
}

// What a benchmark needs; made when it starts, so that a filter costs nothing.
struct Bench {
  Bench(const char* name, const Sizes& sizes, uint32_t workers)
      : machine(engine_options("gfx90a", workers)),
        file(machine),
        c(make_case(machine, name, sizes)) {
    const char* const descriptor = file.descriptor(name);
    dispatch = Machine::grid(c.groups * kGroup, kGroup);
    std::memcpy(&dispatch.group_segment_size, descriptor, 4);
    std::memcpy(&dispatch.private_segment_size, descriptor + 4, 4);
    dispatch.kernel_object = address_of(descriptor);
    auto* const kernarg = machine.allocate<char>(c.arguments.bytes().size());
    std::memcpy(kernarg, c.arguments.bytes().data(), c.arguments.bytes().size());
    dispatch.kernarg_address = address_of(kernarg);
    dispatch.shared_aperture_hi = Machine::kSharedHigh;
    dispatch.private_aperture_hi = Machine::kPrivateHigh;
  }

  void run_on_host() const {
    for (uint32_t group = 0; group < c.groups; ++group) c.on_host(group);
  }
  void run_on_gpu() { run_dispatch(machine, dispatch, c.name); }

  std::vector<float> result_of(const std::function<void()>& run) const {
    std::memset(c.result, 0, c.result_words * sizeof(float));
    run();
    std::vector<float> words(c.result_words);
    std::memcpy(words.data(), c.result, c.result_words * sizeof(float));
    return words;
  }

  void compare() {
    const std::vector<float> host = result_of([&] { run_on_host(); });
    const std::vector<float> gpu = result_of([&] { run_on_gpu(); });
    const bool nearly = c.compare == Case::Compare::kNearly;
    size_t left = c.compare == Case::Compare::kCounts ? host.size() / 50 : 0;
    for (size_t n = 0; n < host.size(); ++n) {
      const bool same = std::bit_cast<uint32_t>(host[n]) == std::bit_cast<uint32_t>(gpu[n]);
      const float allowed = 1e-3f * std::max(1.0f, std::fabs(host[n]));
      if (same || (nearly && std::fabs(host[n] - gpu[n]) <= allowed)) continue;
      if (left-- > 0) continue;
      fail(c.name, "result " + std::to_string(n) + " is " + std::to_string(gpu[n]) +
                       ", the host's is " + std::to_string(host[n]));
    }
  }

  Machine machine;
  LoadedFile file;
  Case c;
  Dispatch dispatch;
};

struct Where {
  const char* name;
  bool gpu;
  uint32_t workers;  // the engine's; 0: one for each core
};
constexpr Where kWheres[] = {{"host", false, 1}, {"vgpu", true, 1}, {"vgpu_every_core", true, 0}};

class KernelSubject final : public Subject {
 public:
  KernelSubject(const char* name, const Sizes& sizes, const Where& where)
      : bench_(name, sizes, where.workers), gpu_(where.gpu) {
    bench_.compare();
  }
  void run() override {
    if (gpu_)
      bench_.run_on_gpu();
    else
      bench_.run_on_host();
  }
  uint64_t digest() override {
    return digest_of(bench_.c.result, bench_.c.result_words * sizeof(float));
  }

 private:
  Bench bench_;
  const bool gpu_;
};

}  // namespace

void add_kernel_benchmarks(std::vector<Benchmark>& benchmarks, const VgpuOptions& options) {
  const Sizes sizes =
      options.smoke ? Sizes{8192, 64, 64, 256, 32, 20} : Sizes{1u << 18, 256, 256, 1024, 256, 200};
  for (const char* const name :
       {"copy", "saxpy", "sgemm_lds", "sgemm_mfma", "nbody", "reduction", "mandelbrot"}) {
    for (const Where& where : kWheres) {
      benchmarks.push_back({std::string("kernel/") + name + "/" + where.name,
                            [=] { return std::make_unique<KernelSubject>(name, sizes, where); },
                            where.workers == 0});
    }
  }
}

}  // namespace halyard::bench
