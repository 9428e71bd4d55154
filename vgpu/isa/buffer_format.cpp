// MUBUF's FORMAT loads and stores, whose format is the descriptor's, and MTBUF, whose format is in
// the instruction (Vega ISA, 8.1.3 and table "Buffer data formats").

#include <algorithm>
#include <bit>
#include <cmath>

#include "vgpu/isa/buffer_resource.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/small_floats.h"

namespace halyard::vgpu::isa {
namespace {

// BUF_DATA_FORMAT: the bits of each component, from the lowest.
struct Layout {
  uint8_t components;
  uint8_t bits[4];
};

constexpr Layout kLayouts[16] = {
    {0, {}},
    {1, {8}},
    {1, {16}},
    {2, {8, 8}},
    {1, {32}},
    {2, {16, 16}},
    {3, {11, 11, 10}},
    {3, {10, 11, 11}},
    {4, {2, 10, 10, 10}},
    {4, {10, 10, 10, 2}},
    {4, {8, 8, 8, 8}},
    {2, {32, 32}},
    {4, {16, 16, 16, 16}},
    {3, {32, 32, 32}},
    {4, {32, 32, 32, 32}},
    {0, {}},
};

// BUF_NUM_FORMAT.
enum NumberFormat : unsigned {
  kUnorm = 0,
  kSnorm = 1,
  kUscaled = 2,
  kSscaled = 3,
  kUint = 4,
  kSint = 5,
  kFloat = 7,
};

unsigned byte_size(const Layout& layout) {
  unsigned bits = 0;
  for (unsigned c = 0; c < layout.components; ++c) bits += layout.bits[c];
  return bits / 8;
}

uint32_t mask_of(unsigned bits) {
  return bits >= 32 ? ~0u : (1u << bits) - 1;
}

int32_t sign_extend(uint32_t value, unsigned bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

// Floats narrower than 32 bits are f16s, the 11- and 10-bit ones without the sign and the last 4 or
// 5 bits of the mantissa. NaNs become quiet.
float small_to_float(uint32_t value, unsigned mantissa_bits) {
  const float f = valu::to_f32(valu::F16{static_cast<uint16_t>(value << (10 - mantissa_bits))});
  return std::isnan(f) ? std::bit_cast<float>(std::bit_cast<uint32_t>(f) | 0x400000) : f;
}

// Rounds to nearest even. NaNs have no payload.
uint32_t float_to_small(float value, unsigned mantissa_bits, bool has_sign) {
  const valu::FloatFormat format{5, mantissa_bits, 15, valu::Specials::kIeee};
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool negative = bits >> 31;
  const uint32_t sign = has_sign && negative ? format.sign() : 0;
  if (std::isnan(value)) return sign | format.infinity() | 1u << (mantissa_bits - 1);
  if (negative && !has_sign) return 0;
  const valu::Unpacked magnitude = valu::unpack(valu::kBinary32, bits & 0x7fffffff);
  return sign | valu::pack(format, magnitude, {}, false);
}

uint32_t decode_component(uint32_t raw, unsigned bits, unsigned number) {
  const auto as_bits = [](float f) { return std::bit_cast<uint32_t>(f); };
  switch (number) {
    case kUnorm:
      return as_bits(static_cast<float>(static_cast<double>(raw) / mask_of(bits)));
    case kSnorm:
      return as_bits(std::max(
          -1.0f,
          static_cast<float>(static_cast<double>(sign_extend(raw, bits)) / mask_of(bits - 1))));
    case kUscaled:
      return as_bits(static_cast<float>(raw));
    case kSscaled:
      return as_bits(static_cast<float>(sign_extend(raw, bits)));
    case kSint:
      return static_cast<uint32_t>(sign_extend(raw, bits));
    case kFloat:
      if (bits == 16) return as_bits(small_to_float(raw, 10));
      if (bits == 11 || bits == 10) return as_bits(small_to_float(raw, bits - 5));
      return raw;
    default:
      return raw;
  }
}

uint32_t encode_component(uint32_t value, unsigned bits, unsigned number) {
  const float f = std::bit_cast<float>(value);
  const double d = std::isnan(f) ? 0.0 : double{f};
  const double high = mask_of(bits), half = mask_of(bits - 1);
  const auto integer = [&](double x) {
    return static_cast<uint32_t>(static_cast<int64_t>(std::nearbyint(x))) & mask_of(bits);
  };
  switch (number) {
    case kUnorm:
      return integer(std::clamp(d, 0.0, 1.0) * high);
    case kSnorm:
      return integer(std::clamp(d, -1.0, 1.0) * half);
    case kUscaled:
      return integer(std::clamp(std::trunc(d), 0.0, high));
    case kSscaled:
      return integer(std::clamp(std::trunc(d), -half - 1, half));
    case kUint:
      return std::min(value, mask_of(bits));
    case kSint: {
      const int64_t limit = mask_of(bits - 1);
      return static_cast<uint32_t>(
                 std::clamp<int64_t>(static_cast<int32_t>(value), -limit - 1, limit)) &
             mask_of(bits);
    }
    case kFloat:
      if (bits == 16) return float_to_small(f, 10, true);
      if (bits == 11 || bits == 10) return float_to_small(f, bits - 5, false);
      return value;
    default:
      return value & mask_of(bits);
  }
}

struct Format {
  Layout layout;
  unsigned number;
  uint32_t select;  // four 3-bit destination selects: 0, 1, or 4 + component
};

constexpr uint32_t kIdentitySelect = 4 | 5 << 3 | 6 << 6 | 7 << 9;

Format format_of(const Instruction& i, const BufferResource& r) {
  if (i.format == isa::Format::kMtbuf)
    return {kLayouts[i.extra->dfmt], i.extra->nfmt, r.word3 & 0xfff};
  // With ADD_TID_ENABLE the descriptor has no data format: dwords.
  if (r.add_lane) return {kLayouts[4], kUint, kIdentitySelect};
  return {kLayouts[r.word3 >> 15 & 15], r.word3 >> 12 & 7, r.word3 & 0xfff};
}

// Half: how the 16-bit forms place their components: two to a register, or one in the upper half.
enum class Half : uint8_t { kNo, kPacked, kHigh };

// Whether the half of a register that no component goes to is cleared (Target::d16_loads_clear).
enum class OtherHalf : uint8_t { kKept, kCleared };

// A register component to or from the 16 bits that D16 holds: floats are f16, integers are cut.
uint32_t to_half(uint32_t value, unsigned number) {
  if (number == kUint || number == kSint) return value & 0xffff;
  return float_to_small(std::bit_cast<float>(value), 10, true);
}

uint32_t from_half(uint32_t value, unsigned number) {
  if (number == kUint) return value & 0xffff;
  if (number == kSint) return static_cast<uint32_t>(sign_extend(value & 0xffff, 16));
  return std::bit_cast<uint32_t>(small_to_float(value & 0xffff, 10));
}

template <OtherHalf kOther>
void put_component(VectorRegister* dst, unsigned l, unsigned c, uint32_t value, Half half,
                   unsigned number) {
  if (half == Half::kNo) {
    dst[c].lane[l] = value;
    return;
  }
  const uint32_t bits = to_half(value, number);
  uint32_t& reg = dst[half == Half::kHigh ? 0 : c / 2].lane[l];
  // Of two components in a register, the lower one is first.
  if (kOther == OtherHalf::kCleared && c % 2 == 0) reg = 0;
  if (half == Half::kHigh || c % 2) {
    reg = (reg & 0xffff) | bits << 16;
  } else {
    reg = (reg & 0xffff0000) | bits;
  }
}

uint32_t get_component(const VectorRegister* data, unsigned l, unsigned c, Half half,
                       unsigned number) {
  if (half == Half::kNo) return data[c].lane[l];
  const uint32_t reg = data[half == Half::kHigh ? 0 : c / 2].lane[l];
  return from_half(half == Half::kHigh || c % 2 ? reg >> 16 : reg, number);
}

// The address of byte `b` of a lane's element.
uint64_t byte_at(uint64_t address, unsigned b, size_t step) {
  if (step == kLinear) return address + b;
  const unsigned start = address & 3;
  return address - start + (start + b) / 4 * step + (start + b) % 4;
}

template <unsigned kComponents, Half kHalf, bool kStore, OtherHalf kOther = OtherHalf::kKept>
Outcome format_access(Wave& w, const Instruction& i) {
  constexpr bool kMayGoToLds = kComponents == 1 && kHalf == Half::kNo && !kStore;
  if (i.lds && !kMayGoToLds)
    return fault_illegal(w, i, "has the LDS bit, which only loads of one dword have");
  const SharedMemoryAccess host_sees = begin_access(w);
  const BufferResource resource = BufferResource::read(w, i.src[1]);
  const Format format = format_of(i, resource);
  const unsigned size = byte_size(format.layout);
  if (size == 0) return fault_illegal(w, i, "names a data format that does not exist");
  VectorRegister result = {};
  VectorRegister* const data = i.lds ? &result : vector_registers(w, i.dst);
  const size_t step = resource.step();
  BufferAddresses addresses;
  buffer_addresses(w, i, resource, size, addresses);
  for (uint64_t left = w.exec(); left; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    uint8_t bytes[16] = {};
    uint8_t* host[16] = {};
    // A formatted access is either completely inside or outside (Vega ISA 8.1.5).
    const bool inside = addresses.inside[l] >= size;
    if (inside) {
      MemoryRange range;
      for (unsigned b = 0; b < size; ++b) {
        const uint64_t p = byte_at(addresses.lane[l], b, step);
        if (!range.contains(p, 1)) {
          range = find_range(w, p, 1, kStore);
          if (range.end == 0) {
            const uint64_t dword = byte_at(addresses.lane[l], b / 4 * 4, step);
            return fault_memory(w, i, dword, size, kStore, static_cast<int>(l));
          }
        }
        host[b] = range.host(p);
      }
    }
    if constexpr (kStore) {
      if (!inside) continue;
      unsigned bit = 0;
      for (unsigned c = 0; c < format.layout.components; ++c) {
        const unsigned bits = format.layout.bits[c];
        // A component beyond those that the instruction has repeats its last one.
        const uint64_t raw = encode_component(
            get_component(data, l, std::min(c, kComponents - 1), kHalf, format.number), bits,
            format.number);
        for (unsigned k = 0; k < bits; ++k) {
          const unsigned at = bit + k;
          bytes[at / 8] = static_cast<uint8_t>(bytes[at / 8] | (raw >> k & 1) << at % 8);
        }
        bit += bits;
      }
      for (unsigned b = 0; b < size; ++b) *host[b] = bytes[b];
      w.stores_pending = true;
    } else {
      if (inside) {
        for (unsigned b = 0; b < size; ++b) bytes[b] = *host[b];
      }
      uint32_t component[4] = {};
      unsigned bit = 0;
      for (unsigned c = 0; c < format.layout.components; ++c) {
        uint32_t raw = 0;
        const unsigned bits = format.layout.bits[c];
        for (unsigned k = 0; k < bits; ++k)
          raw |= static_cast<uint32_t>(bytes[(bit + k) / 8] >> (bit + k) % 8 & 1) << k;
        bit += bits;
        component[c] = inside ? decode_component(raw, bits, format.number) : 0;
      }
      const bool integer = format.number == kUint || format.number == kSint;
      const uint32_t one = integer ? 1 : std::bit_cast<uint32_t>(1.0f);
      for (unsigned c = 0; c < kComponents; ++c) {
        const unsigned select = format.select >> (3 * c) & 7;
        uint32_t value = select >= 4 ? component[select - 4] : select == 1 ? one : 0;
        // A component that memory does not have: 0, and 1 for the last.
        if (select >= 4 && select - 4 >= format.layout.components)
          value = select == 7 && inside ? one : 0;
        put_component<kOther>(data, l, c, value, kHalf, format.number);
      }
    }
  }
  if (i.lds) to_lds(w, i, w.m0() & w.target->buffer_lds_m0, &result);
  return Outcome::kNext;
}

// Loads that leave a half of a register without a component.
#define HALYARD_D16(name, components, half)                  \
  op(Op::name, format_access<components, Half::half, false>) \
      .or_clearing(format_access<components, Half::half, false, OtherHalf::kCleared>)

#define HALYARD_FORMATS(prefix)                                                      \
  op(Op::prefix##_load_format_x, format_access<1, Half::kNo, false>),                \
      op(Op::prefix##_load_format_xy, format_access<2, Half::kNo, false>),           \
      op(Op::prefix##_load_format_xyz, format_access<3, Half::kNo, false>),          \
      op(Op::prefix##_load_format_xyzw, format_access<4, Half::kNo, false>),         \
      op(Op::prefix##_store_format_x, format_access<1, Half::kNo, true>),            \
      op(Op::prefix##_store_format_xy, format_access<2, Half::kNo, true>),           \
      op(Op::prefix##_store_format_xyz, format_access<3, Half::kNo, true>),          \
      op(Op::prefix##_store_format_xyzw, format_access<4, Half::kNo, true>),         \
      HALYARD_D16(prefix##_load_format_d16_x, 1, kPacked),                           \
      op(Op::prefix##_load_format_d16_xy, format_access<2, Half::kPacked, false>),   \
      HALYARD_D16(prefix##_load_format_d16_xyz, 3, kPacked),                         \
      op(Op::prefix##_load_format_d16_xyzw, format_access<4, Half::kPacked, false>), \
      op(Op::prefix##_store_format_d16_x, format_access<1, Half::kPacked, true>),    \
      op(Op::prefix##_store_format_d16_xy, format_access<2, Half::kPacked, true>),   \
      op(Op::prefix##_store_format_d16_xyz, format_access<3, Half::kPacked, true>),  \
      op(Op::prefix##_store_format_d16_xyzw, format_access<4, Half::kPacked, true>)

constexpr Opcode kOpcodes[] = {
    HALYARD_FORMATS(buffer),
    HALYARD_FORMATS(tbuffer),
    HALYARD_D16(buffer_load_format_d16_hi_x, 1, kHigh),
    op(Op::buffer_store_format_d16_hi_x, format_access<1, Half::kHigh, true>),
};

#undef HALYARD_FORMATS
#undef HALYARD_D16

}  // namespace

uint32_t buffer_format_bytes(const Instruction& i, const BufferResource& resource) {
  return byte_size(format_of(i, resource).layout);
}

std::span<const Opcode> buffer_format_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
