// Buffer descriptors and the addresses that MUBUF and MTBUF instructions make with them (Vega ISA,
// 8.1.4 to 8.1.8).
#pragma once

#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/scalar_operands.h"

namespace halyard::vgpu::isa {

struct BufferResource {
  uint64_t base = 0;
  uint32_t stride = 0;  // bytes from one record to the next
  uint32_t records = 0;
  bool swizzled = false;
  bool add_lane = false;     // ADD_TID_ENABLE: the lane number is part of the index
  uint32_t index_shift = 3;  // log2 of how many records' elements are interleaved, if swizzled
  uint32_t word3 = 0;        // destination selects, number and data format

  static BufferResource read(const Wave& w, const Operand& srsrc) {
    const uint32_t* const word = &w.sgpr[srsrc.index];
    BufferResource r;
    r.base = word[0] | static_cast<uint64_t>(word[1] & 0xffff) << 32;
    r.stride = (word[1] >> 16) & 0x3fff;
    r.swizzled = word[1] >> 31;
    r.records = word[2];
    r.word3 = word[3];
    r.add_lane = (word[3] >> 23) & 1;
    // With ADD_TID_ENABLE the data format's bits extend the stride.
    if (r.add_lane) r.stride |= ((word[3] >> 15) & 15) << 14;
    r.index_shift = 3 + ((word[3] >> 21) & 3);
    return r;
  }

  // A private segment: lane l's dword k is in row k, and all lanes have one row for each dword.
  bool is_private_segment() const {
    return swizzled && add_lane && stride == 0 && index_shift == 6;
  }

  // Swizzled memory interleaves elements of 4 bytes on gfx9.
  size_t step() const { return swizzled ? size_t{4} << index_shift : kLinear; }
};

// The bytes of an element of a FORMAT instruction; 0 if its data format does not exist
// (buffer_format.cpp).
uint32_t buffer_format_bytes(const Instruction& i, const BufferResource& resource);

// Where each lane's access lies, and how many of its bytes are inside the buffer.
struct BufferAddresses {
  uint64_t lane[kLanes];
  uint32_t inside[kLanes];  // bytes from the start; at least `bytes` if all are
};

inline void buffer_addresses(const Wave& w, const Instruction& i, const BufferResource& r,
                             uint32_t bytes, BufferAddresses& out) {
  const uint32_t soffset = read32(w, i.src[2]);
  const uint32_t* index_register = nullptr;
  const uint32_t* offset_register = nullptr;
  if (i.src[0].kind != OperandKind::kNone) {
    const VectorRegister* const vaddr = w.vgpr + i.src[0].index;
    if (i.idxen) index_register = vaddr[0].lane;
    if (i.offen) offset_register = vaddr[i.idxen ? 1 : 0].lane;
  }
  const uint64_t start = r.base + soffset;
  const auto immediate = static_cast<uint32_t>(i.offset);
  // gfx9: records count strides if the instruction has an index, and bytes otherwise. The Vega ISA
  // document asks for swizzling instead of an index; Mesa's drivers, which run on gfx9, fill in
  // vertex and texel buffers, which are not swizzled, this way (si_set_vb_descriptor,
  // radv_make_texel_buffer_descriptor).
  const bool structured = i.idxen && r.stride != 0;
  const uint32_t limit = r.records > soffset ? r.records - soffset : 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const uint32_t offset = immediate + (offset_register ? offset_register[l] : 0);
    const uint32_t index = (index_register ? index_register[l] : 0) + (r.add_lane ? l : 0);
    uint64_t position;
    if (r.swizzled) {
      const uint32_t msb = index >> r.index_shift, lsb = index & ((1u << r.index_shift) - 1);
      position =
          ((uint64_t{msb} * r.stride + (offset & ~3u)) << r.index_shift) + lsb * 4 + (offset & 3);
    } else {
      position = uint64_t{index} * r.stride + offset;
    }
    out.lane[l] = start + position;
    if (structured) {
      const bool in = index < r.records && uint64_t{offset} + bytes <= r.stride;
      out.inside[l] = in ? bytes : 0;
    } else {
      // Raw: the offset within the buffer counts; with swizzling, the one before it.
      const uint64_t at = r.swizzled ? offset : position;
      out.inside[l] = at < limit ? static_cast<uint32_t>(std::min<uint64_t>(limit - at, bytes)) : 0;
    }
  }
}

}  // namespace halyard::vgpu::isa
