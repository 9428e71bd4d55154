// Kernels of the queue's integration tests. rebuild.sh compiles them to kernels_gfx900.hsaco.
#define KERNEL __attribute__((amdgpu_kernel))
#define GLOBAL __attribute__((address_space(1)))

typedef unsigned int uint;

KERNEL void add(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* c, uint n) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < n) c[i] = a[i] + b[i];
}

// Every work-item adds 1.
KERNEL void count(GLOBAL uint* counter) {
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

KERNEL void store(GLOBAL volatile uint* where) {
  *where = 1;
}

KERNEL void trap(void) {
  __builtin_trap();
}

// Runs until the host says so, or for ever.
KERNEL void wait_for(GLOBAL uint* flag) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
}
