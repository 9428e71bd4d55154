// Kernels of the seeded mistakes. rebuild.sh compiles them for each processor of the tests. Memory and cache
// instructions are written out: which ones a kernel has, and which it lacks, is what is tested.
#define KERNEL __attribute__((amdgpu_kernel))
#define GLOBAL __attribute__((address_space(1)))
#define DEVICE static inline __attribute__((always_inline))

typedef unsigned int uint;
typedef GLOBAL uint* words;

#define CODE(text) __asm__ volatile(text ::: "memory")

DEVICE uint lane(void) {
  return __builtin_amdgcn_workitem_id_x();
}

DEVICE uint read(words from) {
  uint value;
  __asm__ volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)"
                   : "=v"(value)
                   : "v"(from)
                   : "memory");
  return value;
}

// On its way only.
DEVICE void write(words to, uint value) {
  __asm__ volatile("global_store_dword %0, %1, off" ::"v"(to), "v"(value) : "memory");
}

DEVICE uint read_scalar(words from) {
  uint value;
  __asm__ volatile("s_load_dword %0, %1, 0x0\n\ts_waitcnt lgkmcnt(0)"
                   : "=s"(value)
                   : "s"(from)
                   : "memory");
  return value;
}

DEVICE void write_scalar(words to, uint value) {
  __asm__ volatile("s_store_dword %0, %1, 0x0\n\ts_waitcnt lgkmcnt(0)" ::"s"(value), "s"(to)
                   : "memory");
}

// Relaxed atomic loads and stores of a flag: past the caches.
#if defined(__gfx942__) || defined(__gfx950__)
#define HAS_SCOPES
#define ATOMIC_LOAD " sc0 sc1"
#define ATOMIC_STORE " sc0 sc1"
#else
#define ATOMIC_LOAD " glc"
#define ATOMIC_STORE
#endif

DEVICE void set_flag(words flag) {
  __asm__ volatile("global_store_dword %0, %1, off" ATOMIC_STORE ::"v"(flag), "v"(1) : "memory");
}
DEVICE void wait_until_set(words flag) {
  uint value;
  do {
    __asm__ volatile("s_sleep 1\n\tglobal_load_dword %0, %1, off" ATOMIC_LOAD
                     "\n\ts_waitcnt vmcnt(0)"
                     : "=v"(value)
                     : "v"(flag)
                     : "memory");
  } while (value == 0);
}

struct Flags {
  uint ready;  // the reader has had a look
  uint padding[63];
  uint written;
  uint more_padding[63];
  uint seen;
};

// The two ends of a hand-over.

#define PUBLISH(data, flags, release)         \
  do {                                        \
    wait_until_set(&(flags)->ready);          \
    write((data) + lane(), 40 + lane());      \
    write((data) + 64 + lane(), 80 + lane()); \
    CODE(release);                            \
    set_flag(&(flags)->written);              \
  } while (0)

#define AWAIT(data, flags, acquire)    \
  do {                                 \
    read((data) + 64 + lane());        \
    set_flag(&(flags)->ready);         \
    wait_until_set(&(flags)->written); \
    CODE(acquire);                     \
    read((data) + 64 + lane());        \
  } while (0)

// LLVM AMDGPUUsage, the memory models' code sequences.
#ifdef HAS_SCOPES
#define WRITE_BACK_AGENT "buffer_wbl2 sc1\n\t"
#define ACQUIRE_AGENT "buffer_inv sc1"
#define RELEASE_SYSTEM "buffer_wbl2 sc0 sc1\n\ts_waitcnt vmcnt(0)"
#define ACQUIRE_SYSTEM "buffer_inv sc0 sc1"
#else
#define WRITE_BACK_AGENT ""
#define ACQUIRE_AGENT "buffer_wbinvl1_vol"
#define RELEASE_SYSTEM "buffer_wbl2\n\ts_waitcnt vmcnt(0)"
#define ACQUIRE_SYSTEM "buffer_invl2\n\tbuffer_wbinvl1_vol"
#endif
#define RELEASE_AGENT WRITE_BACK_AGENT "s_waitcnt vmcnt(0)"

#define HAND_OVER(name, release, acquire)                         \
  KERNEL void name(words data, GLOBAL struct Flags* flags) {      \
    if (__builtin_amdgcn_workgroup_id_x() == 0)                   \
      PUBLISH(data, flags, release);                              \
    else                                                          \
      AWAIT(data, flags, acquire);                                \
  }

HAND_OVER(hand_over, RELEASE_AGENT, ACQUIRE_AGENT)
HAND_OVER(hand_over_no_wait, WRITE_BACK_AGENT, ACQUIRE_AGENT)
HAND_OVER(hand_over_short_wait, "s_waitcnt vmcnt(1)\n\t" WRITE_BACK_AGENT, ACQUIRE_AGENT)
HAND_OVER(hand_over_no_invalidate, RELEASE_AGENT, "")
#ifdef HAS_SCOPES
HAND_OVER(hand_over_no_write_back, "s_waitcnt vmcnt(0)", ACQUIRE_AGENT)
HAND_OVER(hand_over_write_back_in_group, "buffer_wbl2 sc0\n\ts_waitcnt vmcnt(0)", ACQUIRE_AGENT)
HAND_OVER(hand_over_invalidate_in_group, RELEASE_AGENT, "buffer_inv sc0")
#endif

// Without waiting for vector memory.
DEVICE void stay_until_set(words flag) {
  do {
    CODE("s_sleep 1\n\ts_dcache_inv");
  } while (read_scalar(flag) == 0);
}
DEVICE void set(words flag) {
  __asm__ volatile("global_atomic_or %0, %1, off" ::"v"(flag), "v"(1) : "memory");
}

// Between GPUs. The writer stays until its data have been read: its packet's release would come to
// the help of a kernel that lacks one.
#define PUBLISH_TO_PEER(name, release)                       \
  KERNEL void name(words data, GLOBAL struct Flags* flags) { \
    PUBLISH(data, flags, release);                           \
    stay_until_set(&flags->seen);                            \
  }
#define AWAIT_PEER(name, acquire)                            \
  KERNEL void name(words data, GLOBAL struct Flags* flags) { \
    AWAIT(data, flags, acquire);                             \
    set(&flags->seen);                                       \
  }

PUBLISH_TO_PEER(publish_no_wait, WRITE_BACK_AGENT)
PUBLISH_TO_PEER(publish_to_agent, RELEASE_AGENT)
AWAIT_PEER(await_of_agent, ACQUIRE_AGENT)
#if defined(__gfx90a__) || defined(HAS_SCOPES)
PUBLISH_TO_PEER(publish_to_system, RELEASE_SYSTEM)
AWAIT_PEER(await_of_system, ACQUIRE_SYSTEM)
#endif

// Each work-item reads or writes its word.
KERNEL void read_words(words from) {
  read(from + lane());
}
KERNEL void write_words(words to, uint value) {
  write(to + lane(), value + lane());
}
KERNEL void overwrite_words(words to, uint value) {
  write(to + lane(), value + lane());
}

// Writes, says so, and goes on until it is told to end.
KERNEL void write_words_and_wait(words data, GLOBAL struct Flags* flags) {
  write(data + lane(), 7 + lane());
  CODE("s_waitcnt vmcnt(0)");
  set_flag(&flags->written);
  wait_until_set(&flags->ready);
}

KERNEL void wait_for_end(GLOBAL struct Flags* flags, uint unused) {
  set_flag(&flags->written);
  wait_until_set(&flags->ready);
}

// Answers when it is spoken to, and ends when it is told to.
KERNEL void echo(GLOBAL struct Flags* flags) {
  wait_until_set(&flags->ready);
  set_flag(&flags->written);
  wait_until_set(&flags->seen);
}

KERNEL void scalar_store(words to) {
  write_scalar(to, 5);
  CODE("s_dcache_wb");
}
KERNEL void scalar_store_no_write_back(words to) {
  write_scalar(to, 5);
}

KERNEL void scalar_read_again(words data) {
  read_scalar(data);
  write(data + lane(), 6);
  CODE("s_waitcnt vmcnt(0)\n\ts_dcache_inv");
  read_scalar(data);
}
KERNEL void scalar_read_again_no_wait(words data) {
  read_scalar(data);
  write(data + lane(), 6);
  CODE("s_dcache_inv");
  read_scalar(data);
}
KERNEL void scalar_read_again_no_invalidate(words data) {
  read_scalar(data);
  write(data + lane(), 6);
  CODE("s_waitcnt vmcnt(0)");
  read_scalar(data);
}

// Its constant is replaced.
KERNEL void write_constant(words to) {
  uint value;
  __asm__ volatile("v_mov_b32 %0, 0x5eed0001" : "=v"(value));
  write(to + lane(), value);
}

KERNEL void invalidate_code(void) {
  CODE("s_icache_inv");
}
