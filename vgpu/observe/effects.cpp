#include "vgpu/observe/effects.h"

#include "vgpu/isa/encoding.h"
#include "vgpu/observe/lds_access.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Access;
using isa::Format;
using isa::Instruction;
using isa::Operand;
using isa::OperandKind;
using isa::Wave;

class Finder {
 public:
  Finder(const Wave& wave, const Instruction& i, Effects& out)
      : wave_(wave), i_(i), row_(isa::row_of(i.op)), out_(out) {}

  void find() {
    implied();
    switch (i_.format) {
      case Format::kSmem:
      case Format::kFlat:
      case Format::kMubuf:
      case Format::kMtbuf:
        memory();
        break;
      case Format::kDs:
        sources();
        write(i_.dst, isa::result_dwords(i_));
        break;
      default:
        arithmetic();
        break;
    }
  }

 private:
  static bool place(const Operand& operand, RegisterFile& file) {
    switch (operand.kind) {
      case OperandKind::kScalar:
        file = RegisterFile::kScalar;
        return true;
      case OperandKind::kVector:
        file = RegisterFile::kVector;
        return true;
      case OperandKind::kAcc:
        file = RegisterFile::kAcc;
        return true;
      default:
        return false;
    }
  }

  void read(const Operand& operand, unsigned dwords) {
    RegisterFile file{};
    if (dwords == 0) return;
    if (place(operand, file)) {
      out_.add_read(file, operand.index, dwords);
    } else if (operand.kind == OperandKind::kVccz) {
      read_scalar(isa::scalar::kVcc, 2);
    } else if (operand.kind == OperandKind::kExecz) {
      if ((row_.reads & isa::kImpliesExec) == 0) read_scalar(isa::scalar::kExec, 2);
    } else if (operand.kind == OperandKind::kLdsDirect) {
      read_scalar(isa::scalar::kM0, 1);
    }
  }
  void write(const Operand& operand, unsigned dwords) {
    RegisterFile file{};
    if (dwords != 0 && place(operand, file)) out_.add_written(file, operand.index, dwords);
  }
  void read_scalar(unsigned first, unsigned count) {
    out_.add_read(RegisterFile::kScalar, first, count);
  }
  void write_scalar(unsigned first, unsigned count) {
    out_.add_written(RegisterFile::kScalar, first, count);
  }

  void sources() {
    for (unsigned s = 0; s < 3; ++s) read(i_.src[s], isa::source_dwords(i_, s));
    if (const auto scales = isa::scales_of(i_)) {
      for (const unsigned vgpr : scales->vgpr)
        out_.add_read(RegisterFile::kVector, static_cast<uint16_t>(vgpr), 1);
    }
  }

  void implied() {
    struct Place {
      isa::Implied implied;
      uint16_t first;
      unsigned count;
    };
    static constexpr Place kPlaces[] = {
        {isa::kImpliesExec, isa::scalar::kExec, 2},
        {isa::kImpliesVcc, isa::scalar::kVcc, 2},
        {isa::kImpliesM0, isa::scalar::kM0, 1},
        {isa::kImpliesFlatScratch, isa::scalar::kFlatScratch, 2},
    };
    unsigned reads = row_.reads;
    if (i_.lds || i_.gds) reads |= isa::kImpliesM0;
    for (const Place& place : kPlaces) {
      if (reads & place.implied) read_scalar(place.first, place.count);
      if (row_.writes & place.implied) write_scalar(place.first, place.count);
    }
  }

  void arithmetic() {
    if (row_.flow == isa::Flow::kFork || row_.flow == isa::Flow::kJoin) branch_stack();
    const unsigned dwords = isa::result_dwords(i_);
    if (row_.has(isa::kRelativeSource)) {
      const unsigned read_dwords = isa::source_dwords(i_, 0);
      read(displaced(i_.src[0], read_dwords), read_dwords);
    } else {
      sources();
    }
    if (row_.has(isa::kAccumulates) || row_.has(isa::kSwaps)) read(i_.dst, dwords);
    if (row_.has(isa::kSwaps)) write(i_.src[0], isa::source_dwords(i_, 0));
    write(row_.has(isa::kRelativeResult) ? displaced(i_.dst, dwords) : Operand(i_.dst), dwords);
    write(i_.sdst, 2);
  }

  // M0 is added to the register's number (Vega ISA 3.6.3: out of range, s0 is read, and nothing is
  // written).
  Operand displaced(Operand operand, unsigned dwords) const {
    const uint64_t index = uint64_t{operand.index} + wave_.m0();
    const bool inside = index + dwords <= isa::unpack_registers(wave_.allocated).sgprs;
    if (!inside && row_.has(isa::kRelativeResult)) return {};
    operand.index = inside ? static_cast<uint16_t>(index) : uint16_t{0};
    return operand;
  }

  // The stack of s_cbranch_*_fork and _join lies in SGPRs, four for each level; MODE has its depth.
  void branch_stack() {
    constexpr unsigned kDepthShift = 29;
    const unsigned depth = wave_.mode_bits >> kDepthShift;
    if (row_.flow == isa::Flow::kFork) {
      write_scalar(depth * 4, 4);
    } else if (depth != 0) {
      read_scalar((depth - 1) * 4, 4);
    }
  }

  void memory() {
    sources();
    const Access access = row_.memory.access;
    const unsigned data = isa::result_dwords(i_);
    const bool data_in_dst = i_.format != Format::kFlat;
    if (data_in_dst && (access == Access::kStore || access == Access::kAtomic)) read(i_.dst, data);
    if (loads_to_lds(i_)) return;
    // TFE's status goes to the VGPR behind the data.
    if (access == Access::kLoad || access == Access::kClock) write(i_.dst, data + i_.tfe);
    if (access != Access::kAtomic || !i_.glc) return;
    // A compare-and-swap sends twice as much as it returns; FLAT has its result apart.
    const bool sends_two = data_in_dst && row_.memory.atomic == isa::AtomicOp::kCmpswap;
    write(i_.dst, (sends_two ? data / 2 : data) + i_.tfe);
  }

  const Wave& wave_;
  const Instruction& i_;
  const isa::Row& row_;
  Effects& out_;
};

}  // namespace

Role role_of(const Instruction& instruction) {
  const isa::Row& row = isa::row_of(instruction.op);
  switch (row.memory.access) {
    case Access::kLoad:
    case Access::kClock:
      return Role::kLoad;
    case Access::kStore:
      return Role::kStore;
    case Access::kAtomic:
      return Role::kAtomic;
    case Access::kProbe:
      return Role::kScalarCache;
    case Access::kCache:
      if (row.memory.cache == isa::CacheOp::kInvalidateCode) return Role::kNone;
      if (instruction.format == Format::kSmem) return Role::kScalarCache;
      return row.memory.cache == isa::CacheOp::kInvalidateVector ? Role::kCacheInvalidate
                                                                 : Role::kCacheControl;
    case Access::kNone:
      break;
  }
  if (row.has(isa::kWait)) return Role::kWait;
  if (row.has(isa::kMessage)) return Role::kMessage;
  if (row.flow == isa::Flow::kBarrier) return Role::kBarrier;
  return row.flow == isa::Flow::kEnd ? Role::kEnd : Role::kNone;
}

void find_effects(const Wave& wave, const Instruction& instruction, Effects& effects) {
  if (instruction.op != isa::Op::none) Finder(wave, instruction, effects).find();
}

}  // namespace halyard::vgpu::observe
