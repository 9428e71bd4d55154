// Runs kernels' host builds: each work-item of a work-group is a fiber that stops where it waits
// for others. It is compiled by clang without sanitizers, as the kernels are: they do not know of
// the fibers' stacks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "vgpu/corpus/corpus.h"

enum { kMaxItems = 1024, kWaveLanes = 64, kStackBytes = 256 * 1024 };

enum State { kReady, kAtMeeting, kAtBarrier, kDone };

struct Fiber {
  ucontext_t context;
  enum State state;
  u32 key, value, other;
  struct CorpusPlace place;
};

static struct Fiber fibers[kMaxItems];
static struct CorpusMeeting meetings[kMaxItems / kWaveLanes];
static ucontext_t scheduler;
static struct Fiber* running;
static char* stacks;
static struct CorpusCase* cases;

static const struct CorpusCase* job;
static const u32* job_in;
static u32 *job_out, *job_work;

const struct CorpusPlace* corpus_place;

// OpenCL C cannot declare the variable.
const struct CorpusPlace* corpus_where(void) {
  return corpus_place;
}

void corpus_register(struct CorpusCase* one) {
  one->next = cases;
  cases = one;
}

struct CorpusCase* corpus_cases(void) {
  return cases;
}

static void stop(enum State state) {
  running->state = state;
  swapcontext(&running->context, &scheduler);
}

void corpus_barrier(void) {
  stop(kAtBarrier);
}

const struct CorpusMeeting* corpus_meet(u32 key, u32 value, u32 other) {
  struct Fiber* const self = running;
  self->key = key;
  self->value = value;
  self->other = other;
  stop(kAtMeeting);
  return &meetings[(self - fibers) / kWaveLanes];
}

static void work_item(void) {
  job->kernel(job_in, job_out, job_work, job->n);
  stop(kDone);
}

// Runs the wave's fibers until each waits for the barrier or has ended.
static void run_wave(u32 first, u32 end) {
  for (;;) {
    u32 key = ~0u, waiting = 0;
    for (u32 i = first; i < end; ++i) {
      if (fibers[i].state == kReady) {
        running = &fibers[i];
        corpus_place = &running->place;
        swapcontext(&scheduler, &running->context);
      }
      if (fibers[i].state == kAtMeeting) {
        ++waiting;
        if (fibers[i].key < key) key = fibers[i].key;
      }
    }
    if (waiting == 0) return;
    struct CorpusMeeting* const meeting = &meetings[first / kWaveLanes];
    memset(meeting, 0, sizeof *meeting);
    for (u32 i = first; i < end; ++i) {
      if (fibers[i].state != kAtMeeting || fibers[i].key != key) continue;
      meeting->active |= 1ul << (i - first);
      meeting->value[i - first] = fibers[i].value;
      meeting->other[i - first] = fibers[i].other;
      fibers[i].state = kReady;
    }
  }
}

static void run_group(const u32* size, const u32* group, const u32* count) {
  const u32 items = size[0] * size[1] * size[2];
  for (u32 i = 0; i < items; ++i) {
    struct Fiber* const fiber = &fibers[i];
    fiber->state = kReady;
    fiber->place.item[0] = i % size[0];
    fiber->place.item[1] = i / size[0] % size[1];
    fiber->place.item[2] = i / size[0] / size[1];
    memcpy(fiber->place.group, group, 3 * sizeof *group);
    memcpy(fiber->place.size, size, 3 * sizeof *size);
    memcpy(fiber->place.count, count, 3 * sizeof *count);
    fiber->place.lane = i % kWaveLanes;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stacks + (size_t)i * kStackBytes;
    fiber->context.uc_stack.ss_size = kStackBytes;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, work_item, 0);
  }
  for (;;) {
    u32 at_barrier = 0;
    for (u32 first = 0; first < items; first += kWaveLanes)
      run_wave(first, first + kWaveLanes < items ? first + kWaveLanes : items);
    for (u32 i = 0; i < items; ++i) {
      if (fibers[i].state != kAtBarrier) continue;
      ++at_barrier;
      fibers[i].state = kReady;
    }
    if (at_barrier == 0) return;
  }
}

void corpus_run_on_host(const struct CorpusCase* one, const u32* in, u32* out, u32* work) {
  u32 size[3], count[3], group[3];
  for (int d = 0; d < 3; ++d) {
    size[d] = one->items[d] ? one->items[d] : 1;
    count[d] = one->groups[d] ? one->groups[d] : 1;
  }
  if ((u64)size[0] * size[1] * size[2] > kMaxItems) {
    fprintf(stderr, "The kernel %s has work-groups of more than %d work-items.\n", one->name,
            kMaxItems);
    abort();
  }
  if (!stacks) {
    stacks = mmap(NULL, (size_t)kMaxItems * kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) {
      perror("The fibers' stacks");
      abort();
    }
  }
  job = one;
  job_in = in;
  job_out = out;
  job_work = work;
  for (group[2] = 0; group[2] < count[2]; ++group[2])
    for (group[1] = 0; group[1] < count[1]; ++group[1])
      for (group[0] = 0; group[0] < count[0]; ++group[0]) run_group(size, group, count);
}
