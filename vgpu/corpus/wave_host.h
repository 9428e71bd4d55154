// What lanes of a wave do together, as a model in plain C. wave_device.h says how it is used; the
// rules are those of the Vega ISA document: 4.7.2 (DPP), 8.13.1 of GCN3's (DS_SWIZZLE, DS_PERMUTE).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
// The lanes that met, and what each brought.
struct CorpusMeeting {
  u64 active;
  u32 value[64];
  u32 other[64];
};
// Waits for the lanes that give the same key. The result is good until the lane's next meeting.
const struct CorpusMeeting* corpus_meet(u32 key, u32 value, u32 other);
#ifdef __cplusplus
}
#endif
#define CORPUS_ALL_LANES (~0u)

FUNCTION u64 ballot_at(u32 key, u32 condition) {
  const struct CorpusMeeting* meeting = corpus_meet(key, condition, 0);
  u64 mask = 0;
  for (u32 l = 0; l < 64; ++l)
    if (meeting->active >> l & 1 && meeting->value[l]) mask |= 1ul << l;
  return mask;
}
FUNCTION u64 ballot(u32 condition) {
  return ballot_at(CORPUS_ALL_LANES, condition);
}
FUNCTION u32 first_lane_at(u32 key, u32 value) {
  const struct CorpusMeeting* meeting = corpus_meet(key, value, 0);
  return meeting->value[__builtin_ctzl(meeting->active)];
}
FUNCTION u32 first_lane(u32 value) {
  return first_lane_at(CORPUS_ALL_LANES, value);
}
FUNCTION u32 read_lane(u32 value, u32 lane) {
  return corpus_meet(CORPUS_ALL_LANES, value, 0)->value[lane & 63];
}
FUNCTION u32 write_lane(u32 old, u32 value, u32 lane) {
  const u32 first = first_lane(value);
  return lane_id() == (lane & 63) ? first : old;
}
FUNCTION u32 bpermute_at(u32 key, u32 value, u32 lane) {
  const struct CorpusMeeting* meeting = corpus_meet(key, value, 0);
  return meeting->active >> (lane & 63) & 1 ? meeting->value[lane & 63] : 0;
}
FUNCTION u32 bpermute(u32 value, u32 lane) {
  return bpermute_at(CORPUS_ALL_LANES, value, lane);
}
FUNCTION u32 permute(u32 value, u32 lane) {
  const struct CorpusMeeting* meeting = corpus_meet(CORPUS_ALL_LANES, value, lane);
  u32 result = 0;
  for (u32 l = 0; l < 64; ++l)
    if (meeting->active >> l & 1 && (meeting->other[l] & 63) == lane_id())
      result = meeting->value[l];
  return result;
}
FUNCTION u32 count_below(u64 mask) {
  return __builtin_popcountl(mask & ((1ul << lane_id()) - 1));
}
FUNCTION u32 swizzle(u32 value, u32 pattern) {
  const u32 lane = lane_id();
  u32 source;
  if (pattern & 0x8000) {  // of each four
    source = (lane & ~3u) | (pattern >> (lane & 3) * 2 & 3);
  } else {  // of each 32: and, or, xor
    source = (((lane & pattern) | pattern >> 5) ^ pattern >> 10) & 31;
    source |= lane & 32;
  }
  return bpermute(value, source);
}
// The lane that DPP reads, or 64 if it has none.
FUNCTION u32 dpp_source(u32 lane, u32 control) {
  const u32 row = lane & ~15u, in_row = lane & 15, count = control & 15;
  if (control < 0x100) return (lane & ~3u) | (control >> (lane & 3) * 2 & 3);
  switch (control & ~15u) {
    case 0x100:
      return in_row + count < 16 ? lane + count : 64;  // row_shl
    case 0x110:
      return in_row >= count ? lane - count : 64;  // row_shr
    case 0x120:
      return row | ((in_row - count) & 15);  // row_ror
    default:
      break;
  }
  switch (control) {
    case 0x130:
      return lane + 1;  // wave_shl; lane 63 has no source
    case 0x134:
      return (lane + 1) & 63;  // wave_rol
    case 0x138:
      return lane ? lane - 1 : 64;  // wave_shr
    case 0x13c:
      return (lane - 1) & 63;  // wave_ror
    case 0x140:
      return row | (15 - in_row);  // row_mirror
    case 0x141:
      return (lane & ~7u) | (7 - (lane & 7));  // row_half_mirror
    case 0x142:
      return row ? row - 1 : 64;  // row_bcast:15
    case 0x143:
      return lane >= 32 ? 31 : 64;  // row_bcast:31
    default:
      return 64;
  }
}
FUNCTION u32 dpp(u32 old, u32 value, u32 control, u32 rows, u32 banks, u32 bound) {
  const struct CorpusMeeting* meeting = corpus_meet(CORPUS_ALL_LANES, value, 0);
  const u32 lane = lane_id(), source = dpp_source(lane, control);
  if (!(rows >> lane / 16 & 1) || !(banks >> lane / 4 % 4 & 1)) return old;
  if (source >= 64 || !(meeting->active >> source & 1)) return bound ? 0 : old;
  return meeting->value[source];
}
