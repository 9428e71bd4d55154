// Fills memory with a pattern of 16 bytes, which shorter ones are repeated to.
#include "target.h"

DEVICE uint8_t pattern_byte(const uint64_t halves[2], uint64_t address) {
  // No array index: that would take LDS.
  const uint64_t half = address & 8 ? halves[1] : halves[0];
  return (uint8_t)(half >> (8 * (address & 7)));
}

KERNEL void halyard_fill(HalyardFillArguments arguments) {
  const uint64_t target = (uint64_t)arguments.target;
  const Range range = range_of(target, arguments.size);
  // The pattern as it stands at aligned addresses: 16 bytes, turned by the target's misalignment.
  uint64_t halves[2];
  __builtin_memcpy(halves, arguments.pattern, sizeof(halves));
  const uint32_t turn = 8 * (target & 7);
  const uint64_t low = target & 8 ? halves[1] : halves[0];
  const uint64_t high = target & 8 ? halves[0] : halves[1];
  // In two steps, as none may shift by 64.
  halves[0] = low << turn | high >> 1 >> (63 - turn);
  halves[1] = high << turn | low >> 1 >> (63 - turn);
  Vector pattern;
  __builtin_memcpy(&pattern, halves, sizeof(pattern));

  uint64_t edge;
  if (edge_byte(&range, &edge)) {
    *(GLOBAL uint8_t*)(target + edge) = pattern_byte(halves, target + edge);
  }

  const uint32_t lane_offset = local_id() * HALYARD_VECTOR_BYTES;
  uint32_t tile = group_id();
  for (; tile < range.tiles; tile += arguments.group_count) {
    const uint64_t base = target + range.head + (uint64_t)tile * HALYARD_TILE_BYTES;
#pragma unroll
    for (uint32_t i = 0; i < HALYARD_VECTORS_IN_FLIGHT; ++i) {
      *(GLOBAL Vector*)place(base + i * HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES, lane_offset) =
          pattern;
    }
  }
  if (tile != range.tiles) return;
  const uint64_t base = range.head + (uint64_t)tile * HALYARD_TILE_BYTES;
  const uint32_t left = (uint32_t)(range.body_end - base);
  for (uint32_t offset = lane_offset; offset < left;
       offset += HALYARD_GROUP_SIZE * HALYARD_VECTOR_BYTES) {
    *(GLOBAL Vector*)place(target + base, offset) = pattern;
  }
}
