// Pointers that are null, and pointers inside of a struct that is passed by value.
#define G __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void

KERNEL vadd(G const float* a, G const float* b, G float* o, unsigned n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) o[i] = a[i] + b[i];
}
KERNEL is_null(G const float* b, G int* o) {
  o[0] = b == 0;
}
// MLIR's descriptor of a memref of one dimension.
struct Memref {
  G float* allocated;
  G float* aligned;
  long offset, size, stride;
};
KERNEL copy(struct Memref from, struct Memref to) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  if (i < to.size) to.aligned[to.offset + i * to.stride] = from.aligned[from.offset + i * from.stride];
}
// Races on LDS: --check=lds has something to find.
KERNEL race(G int* o) {
  static volatile __attribute__((address_space(3), loader_uninitialized)) int s[2];
  unsigned i = __builtin_amdgcn_workitem_id_x();
  s[0] = (int)i;
  o[i] = s[0];
}
// Two waves of a work-group race in memory: each sum becomes 1 or 2.
KERNEL sum(G int* o) {
  unsigned i = __builtin_amdgcn_workitem_id_x() % 64;
  o[i] = o[i] + 1;
}
// The same with a barrier between disjoint parts: no race.
KERNEL reverse(G int* o) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  o[i] = (int)i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  o[128 + i] = o[127 - i];
}
