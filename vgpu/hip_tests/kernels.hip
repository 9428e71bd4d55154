// Device code of the HIP programs beside this file. scripts/rebuild-fat-binary makes kernels.hipfb
// of it, a fat binary for the processors that the virtual GPU runs, so that the tests need no device
// compiler.
#include <hip/hip_runtime.h>
// The order matters.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>

#include <cassert>

namespace cg = cooperative_groups;

__constant__ float constant_table[16];
__device__ int device_counter = 41;
__managed__ int managed_value = 7;

extern "C" {

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void add_to_all(int* values, int n, int amount) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    values[i] += amount;
  }
}

__global__ void use_symbols(float* out) {
  out[threadIdx.x] = constant_table[threadIdx.x % 16] * 2.0f;
  if (threadIdx.x == 0) {
    atomicAdd(&device_counter, 1);
    managed_value *= 3;
  }
}

__global__ void print_lines(const char* text, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < limit)
    printf("item %d of %d: %s, %.3f, %c, %llx\n", i, limit, text, i * 0.5, 'a' + i,
           0x123456789abcdefull);
}

__global__ void assert_below(const int* values, int limit) {
  assert(values[threadIdx.x] < limit);
}

__global__ void reverse_in_lds(int* values) {
  extern __shared__ int tile[];
  const int base = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = values[base + threadIdx.x];
  __syncthreads();
  values[base + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void sum_with_groups(const int* values, int n, int* sum) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  __shared__ int partial[32];
  int mine = 0;
  for (int i = blockIdx.x * block.size() + block.thread_rank(); i < n;
       i += gridDim.x * block.size())
    mine += values[i];
  for (int step = tile.size() / 2; step > 0; step /= 2) mine += tile.shfl_down(mine, step);
  const unsigned which = block.thread_rank() / 32;
  if (tile.thread_rank() == 0) partial[which] = mine;
  block.sync();
  if (block.thread_rank() != 0) return;
  int total = 0;
  for (unsigned i = 0; i < block.size() / 32; ++i) total += partial[i];
  atomicAdd(sum, total);
}

__global__ void shuffle(const int* in, int* out) {
  const int lane = threadIdx.x % 64;
  const int value = in[threadIdx.x];
  int* const row = out + threadIdx.x * 8;
  row[0] = __shfl(value, (lane * 7) % 64);
  row[1] = __shfl_up(value, 3);
  row[2] = __shfl_down(value, 5);
  row[3] = __shfl_xor(value, 9);
  row[4] = __shfl(value, (lane + 1) % 16, 16);
  row[5] = __any(value == 17);
  row[6] = __all(value >= 0);
  row[7] = __popcll(__ballot(value % 3 == 0));
}

__global__ void atomics(int* ints, unsigned* unsigneds, unsigned long long* longs, float* floats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&ints[0], i);
  atomicSub(&ints[1], 2);
  atomicMin(&ints[2], -i);
  atomicMax(&ints[3], i);
  atomicXor(&ints[4], i);
  atomicAnd(&unsigneds[0], ~(1u << (i % 32)));
  atomicOr(&unsigneds[1], 1u << (i % 32));
  atomicInc(&unsigneds[2], 99);
  atomicDec(&unsigneds[3], 99);
  atomicAdd(&longs[0], 1ull << 33);
  atomicAdd(&floats[0], 0.5f);
  int seen = ints[5];
  while (true) {
    const int before = atomicCAS(&ints[5], seen, seen + 3);
    if (before == seen) break;
    seen = before;
  }
  if (i == 0) atomicExch(&ints[6], 123);
}

// A spin lock between work-groups: every resident group has to make progress.
__global__ void count_under_lock(int* lock, int* counter, int rounds) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < rounds; ++i) {
    while (atomicCAS(lock, 0, 1) != 0) __builtin_amdgcn_s_sleep(1);
    __threadfence();
    *reinterpret_cast<volatile int*>(counter) = *reinterpret_cast<volatile int*>(counter) + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Every work-group waits until all have arrived.
__global__ void grid_barrier(int* arrived, int* out) {
  __shared__ int seen;
  if (threadIdx.x == 0) {
    __hip_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    do {
      seen = __hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    } while (seen < static_cast<int>(gridDim.x));
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

__device__ unsigned long long recursive_sum(unsigned long long n) {
  volatile unsigned long long kept[4] = {n, n + 1, n + 2, n + 3};
  if (n == 0) return 0;
  return recursive_sum(n - 1) + kept[n % 4] - n % 4;
}

__global__ void recursion(unsigned long long* out) {
  out[threadIdx.x] = recursive_sum(threadIdx.x);
}

struct Shape {
  float sides[3];
  double scale;
  char kind;
};

__global__ void struct_argument(Shape shape, double* out) {
  out[0] = shape.sides[0] + shape.sides[1] * 10.0 + shape.sides[2] * 100.0;
  out[1] = shape.scale;
  out[2] = shape.kind;
}

__global__ void half_arithmetic(const __half* in, __half* out, __half2* pairs) {
  const int i = threadIdx.x;
  out[i] = __hadd(__hmul(in[i], __float2half(3.0f)), __float2half(0.25f));
  pairs[i] = __hfma2(__halves2half2(in[i], in[i]), __floats2half2_rn(2.0f, 4.0f),
                     __floats2half2_rn(1.0f, -1.0f));
}

__global__ void double_math(const double* in, double* out) {
  const double x = in[threadIdx.x];
  double* const row = out + threadIdx.x * 6;
  row[0] = sqrt(x);
  row[1] = sin(x);
  row[2] = exp(-x);
  row[3] = log(x + 1.0);
  row[4] = fma(x, x, 1.0);
  row[5] = 1.0 / (x + 1.0);
}

// Waits for the host, or for another stream, to store into `flag`.
__global__ void wait_for_flag(volatile int* flag, int* out) {
  while (*flag == 0) __builtin_amdgcn_s_sleep(8);
  out[0] = *flag;
}

__global__ void tick_for(long long ticks, long long* out) {
  const long long begin = wall_clock64();
  long long now = begin;
  while (now - begin < ticks) now = wall_clock64();
  if (out != nullptr) *out = now - begin;
}

__global__ void read_clock(long long* out) {
  *out = clock64();
}

// Of MI200 only: what AMD calls unsafe, because memory decides whether they are carried out.
__global__ void fast_float_atomics(double* doubles, float* floats, double* returned) {
#if defined(__gfx90a__)
  returned[0] = unsafeAtomicAdd(&doubles[0], 1.0);
  returned[1] = __builtin_amdgcn_flat_atomic_fmin_f64(&doubles[1], 1.0);
  returned[2] = __builtin_amdgcn_flat_atomic_fmax_f64(&doubles[2], 100.0);
  returned[3] = unsafeAtomicAdd(&floats[0], 1.0f);
#endif
}

__global__ void write_where_told(int* address, int value) {
  *address = value;
}

__global__ void read_where_told(const int* address, int* out) {
  *out = *address;
}

__global__ void execute_data(void (*code)()) {
  code();
}

__global__ void trap() {
  __builtin_trap();
}

__global__ void spin_for_ever(volatile int* never) {
  while (*never == 0) {
  }
}

__global__ void device_heap(int** out, int count) {
  int* const block = static_cast<int*>(malloc(sizeof(int) * count));
  if (block != nullptr) {
    for (int i = 0; i < count; ++i) block[i] = i * static_cast<int>(threadIdx.x + 1);
  }
  out[threadIdx.x] = block;
}

__global__ void device_heap_sum(int** blocks, int count, int* sums) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += blocks[threadIdx.x][i];
  sums[threadIdx.x] = sum;
  free(blocks[threadIdx.x]);
}

}  // extern "C"
