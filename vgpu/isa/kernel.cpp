#include "vgpu/isa/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::isa {
namespace {

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned width) {
  return (word >> low) & ((1u << width) - 1);
}

constexpr uint64_t kDescriptorSize = 64;
constexpr uint64_t kLegacySize = 256;

// A copy of as much of a kernel object as is mapped.
struct Object {
  uint8_t bytes[kLegacySize] = {};

  template <class T>
  T field(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  }
};

// amd_kernel_code_t starts with its version (1.0 to 1.2) and the machine (kind 1: AMDGPU; major 7
// and up). The same words of a kernel descriptor are segment sizes, and its kernarg size would have
// to be above 458752.
bool is_legacy(const Object& object) {
  return object.field<uint32_t>(0) == 1 && object.field<uint32_t>(4) <= 2 &&
         object.field<uint16_t>(8) == 1 && object.field<uint16_t>(10) >= 7;
}

// Properties: which user SGPRs are filled.
constexpr uint32_t kPrivateSegmentBuffer = 1, kDispatchPtr = 2, kQueuePtr = 4, kKernargPtr = 8,
                   kDispatchId = 16, kFlatScratchInit = 32, kPrivateSegmentSize = 64,
                   kGridCountX = 128;  // then Y and Z; amd_kernel_code_t only

void bad_kernel(Fault& fault, std::string message) {
  fault.kind = Fault::Kind::kCode;
  fault.message = std::move(message);
}

// What rsrc1 and rsrc3 say of a wave's registers.
void count_registers(const Target& target, Kernel& kernel) {
  const uint32_t registers = (bits(kernel.rsrc1, 0, 6) + 1) * target.vgpr_granule;
  kernel.vgprs = static_cast<uint16_t>(std::min(registers, 256u));
  kernel.agprs = target.accumulators ? kernel.vgprs : 0;
  if (target.accum_offset) {
    // rsrc3 bits 5:0: ACCUM_OFFSET / 4 - 1; AGPRs have the rest of the file.
    const uint32_t accum = (bits(kernel.rsrc3, 0, 6) + 1) * 4;
    kernel.vgprs = static_cast<uint16_t>(std::min(accum, registers));
    kernel.agprs = static_cast<uint16_t>(std::min(registers - kernel.vgprs, 256u));
  }
  const uint32_t sgprs = (bits(kernel.rsrc1, 6, 4) / 2 + 1) * 16;
  kernel.sgprs = static_cast<uint16_t>(std::min<uint32_t>(sgprs, scalar::kFlatScratch));
}

// Kernel arguments to preload (LLVM's AMDGPUUsage, "Preloaded Kernel Arguments"). The code for a
// packet processor that does so begins 256 bytes behind the entry: what is before loads them.
constexpr uint32_t kPrologueBytes = 256;

bool preload(const AddressSpace& memory, const Dispatch& dispatch, Kernel& kernel, Fault& fault) {
  const uint32_t length = bits(kernel.properties, 16, 7);
  const uint32_t offset = bits(kernel.properties, 23, 9);
  if (length == 0) return true;
  kernel.preload_count = std::min(length, Kernel::kMaximumPreload);
  const uint64_t from = dispatch.kernarg_address + uint64_t{offset} * 4;
  const uint64_t bytes = uint64_t{kernel.preload_count} * 4;
  const MemoryRange range = memory.find(from);
  if (!range.contains(from, bytes) || !read_host(kernel.preload, range.host(from), bytes)) {
    char where[256] = "";
    memory.describe(from, where, sizeof where);
    fault.kind = Fault::Kind::kMemory;
    fault.address = from;
    fault.message = fmt::format(
        "The {} bytes of kernel arguments at 0x{:x} that the kernel's descriptor asks to preload "
        "are "
        "not readable memory{}{}.",
        bytes, from, where[0] ? ": " : "", where);
    return false;
  }
  kernel.entry += kPrologueBytes;
  return true;
}

// Work-item ids, and EXEC for the lanes that have one.
void set_work_items(const Kernel& kernel, const Target& target, const WavePlace& place,
                    Wave& wave) {
  const uint32_t dimensions = bits(kernel.rsrc2, 11, 2);
  // A work-group has at most 1,024 (engine.cpp).
  const uint32_t items = place.extent[0] * place.extent[1] * place.extent[2];
  const uint32_t first = place.wave * kLanes;
  const uint32_t active = std::min(items - first, uint32_t{kLanes});
  wave.set_exec(active == kLanes ? ~uint64_t{0} : (uint64_t{1} << active) - 1);
  const uint32_t row = first / place.extent[0];
  uint32_t x = first - row * place.extent[0];
  uint32_t z = row / place.extent[1];
  uint32_t y = row - z * place.extent[1];
  const bool has_y = dimensions > 0 && (target.packed_work_item_ids || kernel.vgprs > 1);
  const bool has_z = dimensions > 1 && (target.packed_work_item_ids || kernel.vgprs > 2);
  VectorRegister* const ids = wave.vgpr;
  // So many lanes at a time as are in one row of the work-group.
  for (unsigned lane = 0; lane < active;) {
    const unsigned end = lane + std::min(active - lane, place.extent[0] - x);
    const uint32_t packed =
        target.packed_work_item_ids ? (has_y ? y << 10 : 0) | (has_z ? z << 20 : 0) : 0;
    const uint32_t offset = x - lane;
    for (unsigned l = lane; l < end; ++l) ids[0].lane[l] = (offset + l) | packed;
    if (!target.packed_work_item_ids && has_y) std::fill(ids[1].lane + lane, ids[1].lane + end, y);
    if (!target.packed_work_item_ids && has_z) std::fill(ids[2].lane + lane, ids[2].lane + end, z);
    lane = end;
    x = 0;
    if (++y == place.extent[1]) {
      y = 0;
      ++z;
    }
  }
}

}  // namespace

bool read_kernel(const AddressSpace& memory, const Target& target, uint64_t object, Kernel& kernel,
                 Fault& fault) {
  const MemoryRange range = memory.find(object);
  const uint64_t size = range.contains(object, kLegacySize) ? kLegacySize : kDescriptorSize;
  Object copy;
  if (object % 8 != 0 || !range.contains(object, size) ||
      !read_host(copy.bytes, range.host(object), size)) {
    char where[256] = "";
    memory.describe(object, where, sizeof where);
    bad_kernel(fault, fmt::format("The kernel object (0x{:x}) is not readable memory{}{}.", object,
                                  where[0] ? ": " : "", where));
    return false;
  }
  kernel.legacy = size == kLegacySize && is_legacy(copy);
  kernel.entry = object + static_cast<uint64_t>(copy.field<int64_t>(16));
  kernel.rsrc1 = copy.field<uint32_t>(48);
  kernel.rsrc2 = copy.field<uint32_t>(52);
  // The packet processor reads it at this offset for every version of the object: the vendor
  // runtime's own gfx90a shaders store it in amd_kernel_code_t's max_scratch_backing_memory.
  kernel.rsrc3 = copy.field<uint32_t>(44);
  // KERNARG_PRELOAD_SPEC_LENGTH and OFFSET are the upper half, where processors have them.
  kernel.properties = kernel.legacy || target.kernarg_preload ? copy.field<uint32_t>(56)
                                                              : uint32_t{copy.field<uint16_t>(56)};
  if (kernel.entry % 4 != 0 || !memory.find(kernel.entry).contains(kernel.entry, 4)) {
    bad_kernel(fault, fmt::format("The entry (0x{:x}) of the kernel object (0x{:x}) is not mapped.",
                                  kernel.entry, object));
    return false;
  }
  count_registers(target, kernel);
  return true;
}

bool find_kernel(const AddressSpace& memory, const Target& target, const Dispatch& dispatch,
                 Kernel& kernel, Fault& fault) {
  if (dispatch.registers == nullptr) {
    if (!read_kernel(memory, target, dispatch.kernel_object, kernel, fault)) return false;
    if (!target.kernarg_preload || kernel.legacy) return true;
    return preload(memory, dispatch, kernel, fault);
  }
  const KernelRegisters& registers = *dispatch.registers;
  kernel.entry = registers.entry;
  kernel.rsrc1 = registers.rsrc1;
  kernel.rsrc2 = registers.rsrc2;
  kernel.rsrc3 = registers.rsrc3;
  if (!memory.find(kernel.entry).contains(kernel.entry, 4)) {
    char where[256] = "";
    memory.describe(kernel.entry, where, sizeof where);
    bad_kernel(fault, fmt::format("The code at COMPUTE_PGM_LO and HI (0x{:x}) is not mapped{}{}.",
                                  kernel.entry, where[0] ? ": " : "", where));
    return false;
  }
  count_registers(target, kernel);
  return true;
}

void start_wave(const Kernel& kernel, const Target& target, const Dispatch& dispatch,
                const WavePlace& place, Wave& wave) {
  std::fill(std::begin(wave.sgpr), std::end(wave.sgpr), 0u);
  std::memset(static_cast<void*>(wave.vgpr), 0, kernel.registers() * sizeof(VectorRegister));
  wave.scc = false;
  wave.pc = kernel.entry;
  wave.vgpr_count = kernel.vgprs;
  wave.agpr_count = kernel.agprs;
  wave.allocated = pack_registers(kernel.vgprs, kernel.sgprs, kernel.agprs);
  wave.target = &target;
  // rsrc1: rounding and denormal modes (19:12), DX10_CLAMP (21), IEEE (23), FP16_OVFL (26).
  wave.set_mode(bits(kernel.rsrc1, 12, 8) | bits(kernel.rsrc1, 21, 1) << 8 |
                bits(kernel.rsrc1, 23, 1) << 9 | bits(kernel.rsrc1, 26, 1) << 23);
  wave.apertures[0] = uint64_t{dispatch.shared_aperture_hi} << 32;
  wave.apertures[1] = wave.apertures[0] | 0xffffffff;
  wave.apertures[2] = uint64_t{dispatch.private_aperture_hi} << 32;
  wave.apertures[3] = wave.apertures[2] | 0xffffffff;
  wave.trapsts = 0;
  wave.stores_pending = false;
  wave.fault = {};

  // User SGPRs, in this order, then the system's at rsrc2's USER_SGPR_COUNT.
  unsigned next = 0;
  const auto put = [&](uint32_t value) { wave.sgpr[next++] = value; };
  const auto put64 = [&](uint64_t value) {
    put(static_cast<uint32_t>(value));
    put(static_cast<uint32_t>(value >> 32));
  };
  const uint32_t properties = kernel.properties;
  if (dispatch.registers != nullptr) {
    const uint32_t count = std::min(bits(kernel.rsrc2, 1, 5), 16u);
    for (uint32_t n = 0; n < count; ++n) put(dispatch.registers->user_data[n]);
  }
  // Where flat scratch is architected, descriptors may not ask for where scratch is.
  if (target.architected_flat_scratch) {
    wave.set_scalar64(scalar::kFlatScratch, place.scratch_base);
  } else if (properties & kPrivateSegmentBuffer) {
    // A swizzled buffer over this wave's own scratch: stride 0, ADD_TID_ENABLE, 64 lanes
    // interleaved. The scratch wave offset is therefore 0.
    put64(wave.scratch_base | uint64_t{1} << 63);
    put(static_cast<uint32_t>(
        std::min<uint64_t>(uint64_t{wave.scratch_bytes_per_lane} * kLanes, 0xffffffff)));
    put(3u << 21 | 1u << 23);
  }
  if (properties & kDispatchPtr) put64(dispatch.packet_address);
  if (properties & kQueuePtr) put64(dispatch.queue_address);
  if (properties & kKernargPtr) put64(dispatch.kernarg_address);
  if (properties & kDispatchId) put64(dispatch.dispatch_id);
  if ((properties & kFlatScratchInit) && !target.architected_flat_scratch) put64(wave.scratch_base);
  if (properties & kPrivateSegmentSize) put(dispatch.private_segment_size);
  if (kernel.legacy) {
    for (unsigned d = 0; d < 3; ++d) {
      const uint32_t size = std::max<uint32_t>(dispatch.group[d], 1);
      if (properties & kGridCountX << d)
        put(static_cast<uint32_t>((uint64_t{dispatch.grid[d]} + size - 1) / size));
    }
  }
  for (uint32_t n = 0; n < kernel.preload_count && next < Kernel::kMaximumPreload; ++n)
    put(kernel.preload[n]);
  next = bits(kernel.rsrc2, 1, 5);
  for (unsigned d = 0; d < 3; ++d) {
    if (bits(kernel.rsrc2, 7 + d, 1)) put(place.group[d]);
  }
  if (bits(kernel.rsrc2, 10, 1)) put(uint32_t{place.wave == 0} << 31 | place.wave_count);
  if (bits(kernel.rsrc2, 0, 1) && !target.architected_flat_scratch) put(place.scratch_offset);

  set_work_items(kernel, target, place, wave);
}

}  // namespace halyard::vgpu::isa
