// Sums of integers by every way that lanes of a wave64 have to see each other.
#include <hip/hip_runtime.h>

namespace {

constexpr unsigned kLanes = 64;

// Row shifts, then broadcasts of lane 15 and 31 of each row: the classic scan. Lanes that have no
// source keep `identity`. The last lane ends with the sum of the wave.
template <int kControl, int kRowMask>
__device__ int add_dpp(int value) {
  return value + __builtin_amdgcn_update_dpp(0, value, kControl, kRowMask, 0xf, false);
}

__device__ int wave_sum_dpp(int value) {
  value = add_dpp<0x111, 0xf>(value);  // row_shr:1
  value = add_dpp<0x112, 0xf>(value);  // row_shr:2
  value = add_dpp<0x114, 0xf>(value);  // row_shr:4
  value = add_dpp<0x118, 0xf>(value);  // row_shr:8
  value = add_dpp<0x142, 0xa>(value);  // row_bcast:15
  value = add_dpp<0x143, 0xc>(value);  // row_bcast:31
  return __builtin_amdgcn_readlane(value, kLanes - 1);
}

// Butterflies: within quads by DPP, within 32 lanes by ds_swizzle, the halves by readlane.
__device__ int wave_sum_swizzle(int value) {
  value += __builtin_amdgcn_mov_dpp(value, 0xb1, 0xf, 0xf, true);   // quad_perm:[1,0,3,2]
  value += __builtin_amdgcn_mov_dpp(value, 0x4e, 0xf, 0xf, true);   // quad_perm:[2,3,0,1]
  value += __builtin_amdgcn_mov_dpp(value, 0x141, 0xf, 0xf, true);  // row_half_mirror
  value += __builtin_amdgcn_mov_dpp(value, 0x140, 0xf, 0xf, true);  // row_mirror
  value += __builtin_amdgcn_ds_swizzle(value, 0x401f);              // xor 16
  return __builtin_amdgcn_readlane(value, 0) + __builtin_amdgcn_readlane(value, 32);
}

// ds_bpermute: the lane that is read is a value.
__device__ int wave_sum_shuffle(int value) {
  for (unsigned offset = kLanes / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  return __builtin_amdgcn_readfirstlane(value);
}

// ds_permute: the lane that is written is a value.
__device__ int wave_sum_permute(int value, int lane) {
  for (int offset = 1; offset < static_cast<int>(kLanes); offset *= 2) {
    value += __builtin_amdgcn_ds_permute((lane ^ offset) * 4, value);
  }
  return value;
}

}  // namespace

// out[0] += the sum of in[0, n), by DPP scans, one atomic per wave. n may be anything.
extern "C" __global__ void reduce(const int* in, int* out, unsigned n) {
  int value = 0;
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) value += in[i];

  // All 64 lanes are active here: the loop has ended for all, and groups are whole waves.
  const int sum = wave_sum_dpp(value);
  if (__lane_id() == 0) atomicAdd(out, sum);
}

// As reduce, but the waves of a group meet in LDS first, and the sums come from shuffles.
extern "C" __global__ void reduce_group(const int* in, int* out, unsigned n) {
  __shared__ int sums[16];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned wave = threadIdx.x / kLanes;
  const unsigned waves = blockDim.x / kLanes;

  const int sum = wave_sum_shuffle(i < n ? in[i] : 0);
  if (__lane_id() == 0) sums[wave] = sum;
  __syncthreads();
  if (wave == 0) {
    const int total = wave_sum_swizzle(__lane_id() < waves ? sums[__lane_id()] : 0);
    if (__lane_id() == 0) out[blockIdx.x] = total;
  }
}

// One wave: what each primitive gives each lane. out has 10 rows of 64, in, two.
//   0 the wave's sum by DPP   1 by swizzles   2 by ds_permute   3 the next lane, by
//   ds_bpermute   4 rank among the set lanes of a ballot   5 inclusive scan   6 wave_shr:1, lane 0
//   keeps -1 7 row_ror:3   8 of the lane that the second row of in names   9 count of the ballot
extern "C" __global__ void cross_lane(const int* in, int* out) {
  const int lane = __lane_id();
  const int value = in[lane];
  const unsigned long long odd = __ballot(value & 1);

  int scan = value;
  for (int offset = 1; offset < static_cast<int>(kLanes); offset *= 2) {
    const int other = __shfl_up(scan, offset);
    if (lane >= offset) scan += other;
  }

  out[0 * kLanes + lane] = wave_sum_dpp(value);
  out[1 * kLanes + lane] = wave_sum_swizzle(value);
  out[2 * kLanes + lane] = wave_sum_permute(value, lane);
  out[3 * kLanes + lane] = __builtin_amdgcn_ds_bpermute(((lane + 1) & 63) * 4, value);
  out[4 * kLanes + lane] = __builtin_amdgcn_mbcnt_hi(
      static_cast<unsigned>(odd >> 32), __builtin_amdgcn_mbcnt_lo(static_cast<unsigned>(odd), 0));
  out[5 * kLanes + lane] = scan;
  out[6 * kLanes + lane] = __builtin_amdgcn_update_dpp(-1, value, 0x138, 0xf, 0xf, false);
  out[7 * kLanes + lane] = __builtin_amdgcn_update_dpp(0, value, 0x123, 0xf, 0xf, false);
  out[8 * kLanes + lane] = __shfl(value, in[kLanes + lane]);
  out[9 * kLanes + lane] = __popcll(odd);
}
