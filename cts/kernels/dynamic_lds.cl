// LDS whose size the dispatch chooses: two local pointers beside a static array. Each work-group
// reverses its part of `in` through `first`, and through `second` adds the neighbour's element.
kernel void dynamic_lds(global const uint* in, global uint* out, local uint* first,
                        local ulong* second) {
  local uint fixed[1];
  const uint i = get_local_id(0);
  const uint n = get_local_size(0);
  if (i == 0) fixed[0] = get_group_id(0);
  first[i] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  second[i] = first[n - 1 - i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = (uint)(second[i] + second[(i + 1) % n]) + fixed[0];
}
