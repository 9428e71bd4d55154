// Global variables that kernels of kind init and fini build and take down.
#define GLOBAL __attribute__((address_space(1)))

static GLOBAL unsigned built = 1;
__attribute__((constructor)) static void build(void) {
  volatile unsigned seven = 7;
  built = built * 10 + seven;
}
__attribute__((destructor)) static void take_down(void) {
  volatile unsigned zero = 0;
  built = zero;
}

__attribute__((amdgpu_kernel)) void read_built(GLOBAL unsigned* out) {
  out[0] = built;
}
