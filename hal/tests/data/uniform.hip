// A kernel of HIP's, which Clang compiles for whole work-groups only.
extern "C" __attribute__((global)) void uniform(unsigned *out) {
  out[__builtin_amdgcn_workgroup_id_x()] = __builtin_amdgcn_workgroup_size_x();
}
