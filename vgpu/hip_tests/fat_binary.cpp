// The registration that hipcc generates for a program (clang's CGCUDANV.cpp says what it emits).
#include <map>
#include <mutex>

#include "vgpu/hip_tests/hip_test.h"

// The kernels, where a HIP program has them.
asm(".pushsection .hip_fatbin,\"a\",@progbits\n"
    ".balign 4096\n"
    ".hidden halyard_hip_kernels\n"
    ".globl halyard_hip_kernels\n"
    "halyard_hip_kernels:\n"
    ".incbin \"" HALYARD_HIP_KERNELS
    "\"\n"
    ".popsection\n");

// The names are the linker's and the runtime's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

extern const char halyard_hip_kernels[];

// Not in any header: the compiler's own interface to the runtime.
void** __hipRegisterFatBinary(const void* wrapper);
void __hipRegisterFunction(void** modules, const void* host_function, char* device_function,
                           const char* device_name, unsigned thread_limit, void* tid, void* bid,
                           void* block_dim, void* grid_dim, int* wave_size);
void __hipRegisterVar(void** modules, void* variable, char* host_name, char* device_name,
                      int is_external, size_t size, int is_constant, int is_global);
void __hipRegisterManagedVar(void* modules, void** pointer, void* initial_value, const char* name,
                             size_t size, unsigned alignment);
}
// NOLINTEND(readability-identifier-naming)

namespace halyard::vgpu::hip_testing {

float constant_table[16];
int device_counter;
int* managed_value;

namespace {

struct FatBinaryWrapper {
  uint32_t magic = 0x48495046;  // "HIPF"
  uint32_t version = 1;
  const void* binary = halyard_hip_kernels;
  void* unused = nullptr;
};

int managed_initial_value = 7;

constexpr const char* kKernels[] = {"saxpy",
                                    "add_to_all",
                                    "use_symbols",
                                    "print_lines",
                                    "assert_below",
                                    "reverse_in_lds",
                                    "sum_with_groups",
                                    "shuffle",
                                    "atomics",
                                    "count_under_lock",
                                    "grid_barrier",
                                    "recursion",
                                    "struct_argument",
                                    "half_arithmetic",
                                    "double_math",
                                    "wait_for_flag",
                                    "tick_for",
                                    "write_where_told",
                                    "read_where_told",
                                    "execute_data",
                                    "trap",
                                    "spin_for_ever",
                                    "device_heap",
                                    "device_heap_sum",
                                    "read_clock",
                                    "fast_float_atomics"};

// The addresses that stand for the kernels: a byte each.
std::map<std::string, char>& stubs() {
  static auto* const map = new std::map<std::string, char>;
  return *map;
}

void register_all() {
  // The runtime keeps pointers to all of this.
  static const auto* const wrapper = new FatBinaryWrapper;
  void** const modules = __hipRegisterFatBinary(wrapper);
  for (const char* name : kKernels) {
    char* const device_name = const_cast<char*>(name);
    __hipRegisterFunction(modules, &stubs()[name], device_name, name, ~0u, nullptr, nullptr,
                          nullptr, nullptr, nullptr);
  }
  const auto variable = [modules](void* shadow, const char* name, size_t size, bool is_constant) {
    char* const text = const_cast<char*>(name);
    __hipRegisterVar(modules, shadow, text, text, 0, size, is_constant ? 1 : 0, 0);
  };
  variable(constant_table, "constant_table", sizeof constant_table, true);
  variable(&device_counter, "device_counter", sizeof device_counter, false);
  __hipRegisterManagedVar(modules, reinterpret_cast<void**>(&managed_value), &managed_initial_value,
                          "managed_value", sizeof managed_initial_value, alignof(int));
}

}  // namespace

void register_kernels() {
  static std::once_flag once;
  std::call_once(once, register_all);
}

const void* kernel(const std::string& name) {
  const auto stub = stubs().find(name);
  if (stub != stubs().end()) return &stub->second;
  ADD_FAILURE() << "There is no kernel " << name;
  return nullptr;
}

}  // namespace halyard::vgpu::hip_testing
