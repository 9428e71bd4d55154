// Indirect dispatch: work-group counts that the device has computed become the grid of the packet
// behind this kernel's.
//
// Memory order. The counts are read behind the acquire fence of this kernel's own packet. Packet
// and kernel arguments lie in the host's fine-grained memory; the first word is stored with release
// at system scope, since the packet processor, which is no part of the agent's memory model, reads
// it as the host would. It reads the rest only after that word: until then the slot is INVALID (HSA
// System Architecture 1.2, 2.8.3 and 2.9.1). The kernel behind reads its arguments through caches
// that its packet's acquire fence, of agent scope at least, has emptied. The packet's barrier bit
// keeps it from starting before this kernel is done.
#include "target.h"

// Word offsets in hsa_kernel_dispatch_packet_t.
enum { kGridSizeWord = 3, kFirstDependencyWord = 2, kLastDependencyWord = 11 };
// Bits 0 and 1 of the setup: the number of dimensions.
static const uint32_t kDimensionsMask = 3u << 16;

SINGLE_KERNEL void halyard_patch_dispatch(HalyardPatchDispatchArguments arguments) {
  GLOBAL uint32_t* const packet = arguments.packet;
  uint32_t first_word = arguments.first_word;
  uint32_t counts[3];
  uint32_t is_empty = 0;
  uint32_t is_too_large = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) counts[i] = arguments.group_counts[i];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const uint64_t grid = (uint64_t)counts[i] * arguments.group_size[i];
    is_empty |= counts[i] == 0;
    is_too_large |= grid > arguments.max_grid[i];
    packet[kGridSizeWord + i] = (uint32_t)grid;
  }
  if (arguments.block_counts) {
#pragma unroll
    for (int i = 0; i < 3; ++i) arguments.block_counts[i] = counts[i];
  }
  if (is_empty) {
    // What was grid, code and arguments would be signals to wait for.
    first_word = arguments.empty_first_word;
#pragma unroll
    for (int i = 1; i <= kLastDependencyWord; ++i) packet[i] = 0;
  } else if (is_too_large) {
    first_word &= ~kDimensionsMask;
  }
  __atomic_store_n(packet, first_word, __ATOMIC_RELEASE);
  if (arguments.doorbell) {
    __atomic_store_n(arguments.doorbell, arguments.doorbell_value, __ATOMIC_RELEASE);
  }
}
