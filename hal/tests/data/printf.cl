// Kernels that print into a buffer.
kernel void print(int i, float f) {
  printf("item %d: %f, %s; %v4hlf\n", i, f, "text", (float4)(1, 2, 3, 4));
  printf("plain\n");
}
