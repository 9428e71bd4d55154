#include "vgpu/coherence/accesses.h"

#include <algorithm>
#include <bit>

#include "vgpu/isa/buffer_resource.h"

namespace halyard::vgpu::coherence {
namespace {

using isa::Format;
using isa::Instruction;
using isa::Wave;

Effect::Kind kind_of(isa::CacheOp cache) {
  using Kind = Effect::Kind;
  switch (cache) {
    case isa::CacheOp::kInvalidateVector:
      return Kind::kInvalidateL1;
    case isa::CacheOp::kInvalidateScoped:
      return Kind::kInvalidateScoped;
    case isa::CacheOp::kWriteBackL2:
      return Kind::kWriteBackL2;
    case isa::CacheOp::kInvalidateL2:
      return Kind::kInvalidateL2;
    case isa::CacheOp::kInvalidateScalar:
      return Kind::kInvalidateScalar;
    case isa::CacheOp::kWriteBackScalar:
      return Kind::kWriteBackScalar;
    case isa::CacheOp::kInvalidateCode:
      return Kind::kInvalidateCode;
    // A line may have been written back at any time before, so what it held is not known to be
    // lost.
    case isa::CacheOp::kDiscardScalar:
    // Nothing executes the processors that have these.
    case isa::CacheOp::kInvalidateGl1:
    case isa::CacheOp::kWriteBackScoped:
    case isa::CacheOp::kWriteBackInvalidateScoped:
    case isa::CacheOp::kNone:
      break;
  }
  return Kind::kNone;
}

Use use_of(isa::Access access) {
  if (access == isa::Access::kAtomic) return Use::kAtomic;
  return access == isa::Access::kStore ? Use::kStore : Use::kLoad;
}

uint64_t offset_of(const Instruction& i) {
  return static_cast<uint64_t>(static_cast<int64_t>(i.offset));
}

}  // namespace

const char* verb(Use use) {
  switch (use) {
    case Use::kLoad:
      return "reads";
    case Use::kStore:
      return "writes";
    case Use::kAtomic:
      return "updates";
  }
  return "uses";
}

Effect effect_of(const Instruction& instruction) {
  const isa::Row& row = isa::row_of(instruction.op);
  const isa::Memory& memory = row.memory;
  if (row.has(isa::kWait)) return {Effect::Kind::kWait};
  switch (memory.access) {
    case isa::Access::kCache:
      return {kind_of(memory.cache)};
    case isa::Access::kLoad:
    case isa::Access::kStore:
    case isa::Access::kAtomic:
      break;
    default:
      return {};
  }
  if (instruction.format == Format::kDs) return {};
  const auto kind =
      instruction.format == Format::kSmem ? Effect::Kind::kScalar : Effect::Kind::kVector;
  return {kind, use_of(memory.access), memory.bytes};
}

void Accesses::add_line(uint64_t line, uint64_t mask) {
  // Neighbouring lanes touch one line or two; a line that comes again later may be there twice.
  const size_t last = lines_.size();
  for (size_t n = last; n > 0 && n + 4 > last; --n) {
    if (lines_[n - 1].line == line) {
      lines_[n - 1].mask |= mask;
      return;
    }
  }
  lines_.push_back({line, mask});
}

void Accesses::add(int lane, uint64_t address, unsigned bytes) {
  // The model knows memory by the host's addresses. Where the GPU has none, the instruction fails.
  if (!range_.contains(address, 1)) range_ = memory_->find(address);
  if (!range_.contains(address, 1)) return;
  address += range_.to_host;
  lanes_.push_back({lane, address, bytes});
  while (bytes > 0) {
    const uint64_t line = line_of(address);
    const auto first = static_cast<unsigned>(address - line);
    const unsigned count = std::min<unsigned>(bytes, kLineBytes - first);
    add_line(line, byte_mask(first, count));
    address += count;
    bytes -= count;
  }
}

void Accesses::read_flat(const Wave& wave, const Instruction& i, const Effect& effect) {
  constexpr uint8_t kFlat = 0, kScratch = 1;
  if (i.segment == kScratch || i.src[0].kind != isa::OperandKind::kVector) return;
  const uint32_t* const low = wave.vgpr[i.src[0].index].lane;
  const uint64_t exec = wave.exec();
  if (i.src[2].kind == isa::OperandKind::kScalar) {
    const uint64_t base = wave.scalar64(i.src[2].index) + offset_of(i);
    isa::for_each_lane(exec,
                       [&](unsigned l) { add(static_cast<int>(l), base + low[l], effect.bytes); });
    return;
  }
  const uint32_t* const high = wave.vgpr[i.src[0].index + 1].lane;
  const auto shared = static_cast<uint32_t>(wave.apertures[0] >> 32);
  const auto own = static_cast<uint32_t>(wave.apertures[2] >> 32);
  isa::for_each_lane(exec, [&](unsigned l) {
    const uint64_t address = (uint64_t{high[l]} << 32 | low[l]) + offset_of(i);
    const auto half = static_cast<uint32_t>(address >> 32);
    if (i.segment == kFlat && half != 0 && (half == shared || half == own)) return;
    add(static_cast<int>(l), address, effect.bytes);
  });
}

void Accesses::read_buffer(const Wave& wave, const Instruction& i, const Effect& effect) {
  const auto resource = isa::BufferResource::read(wave, i.src[1]);
  if (resource.is_private_segment() && resource.base == wave.scratch_base) return;
  const uint32_t bytes = effect.bytes != 0 ? effect.bytes : isa::buffer_format_bytes(i, resource);
  if (bytes == 0) return;
  const size_t step = resource.step();
  isa::BufferAddresses addresses;
  isa::buffer_addresses(wave, i, resource, bytes, addresses);
  // A partly inside access transfers whole dwords; formats and atomics stay whole.
  const bool in_parts = effect.bytes > 4 && effect.use != Use::kAtomic;
  isa::for_each_lane(wave.exec(), [&](unsigned l) {
    uint32_t inside = std::min(addresses.inside[l], bytes);
    if (inside < bytes) inside = in_parts ? inside / 4 * 4 : 0;
    if (inside == 0) return;
    if (step == isa::kLinear) return add(static_cast<int>(l), addresses.lane[l], inside);
    for (uint32_t at = 0; at < inside; at += 4)
      add(static_cast<int>(l), addresses.lane[l] + at / 4 * step, std::min(inside - at, 4u));
  });
}

void Accesses::read_scalar(const Wave& wave, const Instruction& i, const Effect& effect) {
  constexpr uint64_t kDwords = ~uint64_t{3};
  const isa::Row& row = isa::row_of(i.op);
  if (row.has(isa::kScratchScalar)) return;
  const uint64_t offset_register =
      i.src[1].kind == isa::OperandKind::kNone ? 0 : isa::read32(wave, i.src[1]);
  const uint64_t offset = (offset_of(i) + offset_register) & kDwords;
  const unsigned base_register = i.src[0].index;
  const bool is_buffer = row.src[0] == isa::Type::kB128;
  if (!is_buffer) return add(-1, (wave.scalar64(base_register) & kDwords) + offset, effect.bytes);
  const uint64_t base = wave.scalar64(base_register) & 0xffffffffffff & kDwords;
  const uint64_t stride = wave.sgpr[base_register + 1] >> 16 & 0x3fff;
  const uint64_t records = wave.sgpr[base_register + 2];
  const uint64_t size = stride != 0 ? records * stride : records;
  const uint64_t first = offset & 0xffffffff;
  const uint64_t inside =
      size > first ? std::min<uint64_t>(size - first, effect.bytes) & kDwords : 0;
  if (inside != 0) add(-1, base + first, static_cast<unsigned>(inside));
}

void Accesses::read(const Wave& wave, const Instruction& instruction, const Effect& effect) {
  lines_.clear();
  lanes_.clear();
  memory_ = wave.memory;
  range_ = {};
  if (effect.kind == Effect::Kind::kScalar) return read_scalar(wave, instruction, effect);
  if (instruction.format == Format::kFlat) return read_flat(wave, instruction, effect);
  read_buffer(wave, instruction, effect);
}

Accesses::Lane Accesses::find(uint64_t line, uint64_t mask) const {
  for (const Lane& lane : lanes_) {
    for (unsigned at = 0; at < lane.bytes; ++at) {
      const uint64_t address = lane.address + at;
      if (line_of(address) == line && (mask >> (address - line) & 1) != 0) return lane;
    }
  }
  return {};
}

}  // namespace halyard::vgpu::coherence
