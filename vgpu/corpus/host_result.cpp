#include "vgpu/corpus/host_result.h"

#include <algorithm>
#include <cstring>

namespace halyard::vgpu::corpus {

std::vector<CorpusCase*> all_cases() {
  std::vector<CorpusCase*> cases;
  for (CorpusCase* one = corpus_cases(); one; one = one->next) cases.push_back(one);
  std::sort(cases.begin(), cases.end(), [](const CorpusCase* a, const CorpusCase* b) {
    return std::strcmp(a->name, b->name) < 0;
  });
  return cases;
}

HostResult run_on_host(const CorpusCase& one) {
  HostResult result;
  result.in.resize(one.words_in);
  result.out.resize(one.words_out, one.initial);
  if (one.prepare) {
    one.prepare(result.in.data(), one.words_in);
  } else {
    uint32_t state = 1;
    for (uint32_t& word : result.in) {
      state = state * 1664525 + 1013904223;
      word = state ^ state >> 15;
    }
  }
  std::vector<uint32_t> work(one.words_work);
  corpus_run_on_host(&one, result.in.data(), result.out.data(), work.data());
  return result;
}

}  // namespace halyard::vgpu::corpus
