// Registers the kernels of vectors.cl.
#include "vgpu/corpus/corpus.h"

#define CL_CASE(kernel_, ...)                                                          \
  void kernel_(const u32* in, u32* out, u32* work, u32 n);                             \
  static struct CorpusCase kernel_##_case = {                                          \
      .name = #kernel_, .file = "vectors.cl", .kernel = kernel_, __VA_ARGS__};         \
  __attribute__((constructor)) static void kernel_##_register(void) {                  \
    corpus_register(&kernel_##_case);                                                  \
  }

CL_CASE(cl_vectors, .items = {64}, .groups = {2}, .n = 128, .words_in = 512, .words_out = 512)
CL_CASE(cl_private, .items = {64}, .groups = {2}, .n = 128, .words_in = 128, .words_out = 512)
CL_CASE(cl_wide, .items = {64}, .groups = {2}, .words_in = 129, .words_out = 512)
CL_CASE(cl_pointers, .items = {64}, .groups = {2}, .n = 128, .words_in = 128, .words_out = 128)
