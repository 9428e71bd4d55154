// A code object with two kernels and a global variable, for the reader's tests: every kind of
// argument that C can express, and LDS.
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

typedef struct {
  float scale;
  int offset;
  double weight;
} Parameters;

__attribute__((visibility("protected"))) GLOBAL int table[4] = {1, 2, 3, 4};

__attribute__((amdgpu_kernel)) void every_kind(GLOBAL float* out, LDS float* scratch, int count,
                                               short small, double wide, Parameters parameters) {
  static LDS __attribute__((loader_uninitialized)) float tile[64];
  const int lane = __builtin_amdgcn_workitem_id_x();
  const int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + lane;
  tile[lane & 63] = parameters.scale;
  scratch[lane] = table[lane & 3];
  __builtin_amdgcn_s_barrier();
  if (i < count) {
    out[i] = scratch[lane ^ 1] + tile[(lane + small) & 63] + (float)(wide * parameters.weight) +
             parameters.offset;
  }
}

__attribute__((amdgpu_kernel)) void nothing(void) {}
