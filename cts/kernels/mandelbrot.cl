// out[y * width + x] = iterations until |z| > 2 for the point of pixel (x, y), at most `limit`.
// Neighbours leave the loop at different times: lanes of a wave diverge.
// Every step is rounded on its own (no contraction), so that a host can repeat it bit by bit.
#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global uint* out, uint width, uint height, float left, float top, float step,
                       uint limit) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  if (x >= width || y >= height) return;

  const float cr = left + step * (float)x;
  const float ci = top - step * (float)y;
  float zr = 0.0f;
  float zi = 0.0f;
  uint iterations = 0;
  while (iterations < limit) {
    const float rr = zr * zr;
    const float ii = zi * zi;
    if (rr + ii > 4.0f) break;
    zi = (zr + zr) * zi + ci;
    zr = rr - ii + cr;
    ++iterations;
  }
  out[y * width + x] = iterations;
}
