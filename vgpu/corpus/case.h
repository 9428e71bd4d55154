// What the host knows of a kernel of the corpus: how to launch it, with which input, and how near
// its results must come. Shared by C, which registers the cases, and C++, which runs them.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How two outputs are compared. Two NaNs are always equal as floats: which one comes out is not
// the same on x86-64 and AMDGPU.
enum CorpusCompare {
  kCorpusExact,  // bit by bit
  kCorpusF16,    // two halves in each word, within `ulps`
  kCorpusF32,
  kCorpusF64,
};

// A C compiler's view of a kernel's arguments.
typedef void (*CorpusKernel)(const uint32_t* in, uint32_t* out, uint32_t* work, uint32_t n);

struct CorpusCase {
  const char* name;     // of the kernel
  const char* file;     // the source's path, as __FILE__ has it
  CorpusKernel kernel;  // the host's build of it
  uint32_t items[3];    // work-items of a work-group; 0 is 1
  uint32_t groups[3];   // work-groups; 0 is 1
  uint32_t n;           // an argument
  uint32_t words_in, words_out, words_work;
  uint32_t initial;  // what the words of `out` are when the kernel starts; those of `work` are zero
  // Fills `in`. None: random words.
  void (*prepare)(uint32_t* in, uint32_t words);
  // Arguments behind `n`, for kernels that are declared with more; 8 bytes each.
  const uint64_t* more;
  uint32_t more_count;
  enum CorpusCompare compare;
  uint32_t ulps;  // 0 is exactly rounded
  struct CorpusCase* next;
};

// The cases that are linked in, in no order.
__attribute__((visibility("default"))) void corpus_register(struct CorpusCase* one);
struct CorpusCase* corpus_cases(void);

// Runs a kernel's host build, work-group after work-group; a work-group's work-items are fibers.
// Not for two threads at once.
void corpus_run_on_host(const struct CorpusCase* one, const uint32_t* in, uint32_t* out,
                        uint32_t* work);

#ifdef __cplusplus
}
#endif
