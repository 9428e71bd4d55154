// Counts bytes: bins[v] += how many of in[0, n) are v. Each work-group counts in LDS with atomics
// and then adds what it found to the 256 global bins, also with atomics.
kernel void histogram(global const uchar* in, uint n, global uint* bins) {
  local uint counts[256];
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0)) counts[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    atomic_inc(&counts[in[i]]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0)) {
    if (counts[bin] != 0) atomic_add(&bins[bin], counts[bin]);
  }
}
