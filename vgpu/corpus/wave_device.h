// What lanes of a wave do together, on the GPU. wave_host.h is the model that it must agree with.
#pragma once

// Operations come in two forms: in the plain one all lanes of the wave take part; the one with a
// key is for divergent code, where those lanes meet that give the same key. Among keys that lanes
// wait with the smallest one is first, so keys grow in the order of the program. The GPU's
// hardware needs no key: the lanes that EXEC has take part.
FUNCTION u64 ballot_at(u32 key, u32 condition) {
  (void)key;
  return __builtin_amdgcn_ballot_w64(condition != 0);
}
FUNCTION u64 ballot(u32 condition) {
  return __builtin_amdgcn_ballot_w64(condition != 0);
}
FUNCTION u32 first_lane_at(u32 key, u32 value) {
  (void)key;
  return __builtin_amdgcn_readfirstlane(value);
}
FUNCTION u32 first_lane(u32 value) {
  return __builtin_amdgcn_readfirstlane(value);
}
FUNCTION u32 read_lane(u32 value, u32 lane) {  // `lane` is the same for all
  return __builtin_amdgcn_readlane(value, __builtin_amdgcn_readfirstlane(lane));
}
// clang has no builtin for it.
DEVICE u32 corpus_writelane(u32 value, u32 lane, u32 old) __asm("llvm.amdgcn.writelane.i32");
FUNCTION u32 write_lane(u32 old, u32 value, u32 lane) {
  return corpus_writelane(__builtin_amdgcn_readfirstlane(value),
                          __builtin_amdgcn_readfirstlane(lane), old);
}
FUNCTION u32 bpermute_at(u32 key, u32 value, u32 lane) {
  (void)key;
  return __builtin_amdgcn_ds_bpermute(lane * 4, value);
}
FUNCTION u32 bpermute(u32 value, u32 lane) {
  return __builtin_amdgcn_ds_bpermute(lane * 4, value);
}
FUNCTION u32 permute(u32 value, u32 lane) {  // to `lane`; each lane gets one value
  return __builtin_amdgcn_ds_permute(lane * 4, value);
}
FUNCTION u32 count_below(u64 mask) {
  return __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo(mask, 0));
}
#define swizzle(value, pattern) ((u32)__builtin_amdgcn_ds_swizzle(value, pattern))
#define dpp(old, value, control, rows, banks, bound) \
  ((u32)__builtin_amdgcn_update_dpp(old, value, control, rows, banks, bound))
