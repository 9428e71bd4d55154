// LDS for kernels.rs: Rust 1.96 has no address spaces, C has. `halyard compile kernels.rs lds.c`
// joins both, and the calls are inlined.

// As much as the launch asks for (halyard run --lds=BYTES).
extern __attribute__((address_space(3), aligned(16))) unsigned char launch_sized[];
void *launch_lds(void) {
  return (void *)launch_sized;
}

// Always there, in kernels that use it.
static __attribute__((address_space(3), loader_uninitialized)) unsigned bins[16];
unsigned *lds_bins(void) {
  return (unsigned *)bins;
}
