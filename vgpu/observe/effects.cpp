#include "vgpu/observe/effects.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Format;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::Wave;

// Operands that follow only from the opcode's name, not from its types.
struct Traits {
  Role role = Role::kNone;
  bool accumulates = false;  // reads its destination as another source
  bool data_in_dst = false;  // the memory format has the data that it stores in `dst`
  bool compares = false;     // an atomic that sends twice as much as it returns
  bool swaps = false;        // v_swap_b32
  bool relative_source = false, relative_result = false;  // s_movrels, s_movreld
  bool forks = false, joins = false;                      // s_cbranch_*_fork, s_cbranch_join
  bool reads_exec = false, writes_exec = false;
  bool reads_vcc = false;
  bool reads_m0 = false, writes_m0 = false;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Role memory_role(std::string_view name) {
  if (is_one_of(name, {"buffer_wbinvl1", "buffer_wbinvl1_vol"})) return Role::kCacheInvalidate;
  if (is_one_of(name, {"buffer_wbl2", "buffer_invl2"})) return Role::kCacheControl;
  if (contains(name, "_atomic_")) return Role::kAtomic;
  return contains(name, "_store_") ? Role::kStore : Role::kLoad;
}

Role lds_role(std::string_view name) {
  if (name == "ds_nop") return Role::kNone;
  if (name.starts_with("ds_write")) return Role::kStore;
  const bool loads =
      name.starts_with("ds_read") || contains(name, "permute") || contains(name, "swizzle");
  return loads ? Role::kLoad : Role::kAtomic;
}

Traits scalar_traits(std::string_view name) {
  Traits t;
  if (name == "s_waitcnt") t.role = Role::kWait;
  if (name == "s_barrier") t.role = Role::kBarrier;
  if (name.starts_with("s_endpgm")) t.role = Role::kEnd;
  if (name.starts_with("s_sendmsg")) t.role = Role::kMessage;
  t.accumulates = name.starts_with("s_bitset") || name == "s_addk_i32" || name == "s_mulk_i32";
  t.relative_source = name.starts_with("s_movrels_");
  t.relative_result = name.starts_with("s_movreld_");
  t.forks = name == "s_cbranch_g_fork" || name == "s_cbranch_i_fork";
  t.joins = name == "s_cbranch_join";
  t.reads_exec = t.writes_exec = contains(name, "_saveexec_") || contains(name, "_wrexec_");
  t.reads_exec |= t.forks || name == "s_cbranch_execz" || name == "s_cbranch_execnz";
  t.writes_exec |= t.forks || t.joins;
  t.reads_vcc = name == "s_cbranch_vccz" || name == "s_cbranch_vccnz";
  t.writes_m0 = is_one_of(name, {"s_set_gpr_idx_on", "s_set_gpr_idx_idx", "s_set_gpr_idx_mode"});
  t.reads_m0 =
      t.relative_source || t.relative_result || t.role == Role::kMessage || name == "s_ttracedata";
  return t;
}

Traits scalar_memory_traits(std::string_view name) {
  Traits t;
  if (name.starts_with("s_dcache_") || name.starts_with("s_atc_probe")) {
    t.role = Role::kScalarCache;
  } else {
    t.role = memory_role(name);
  }
  t.data_in_dst = t.role == Role::kStore || t.role == Role::kAtomic;
  t.compares = contains(name, "_cmpswap");
  return t;
}

Traits vector_traits(std::string_view name) {
  Traits t;
  t.accumulates = is_one_of(name, {"v_mac_f16", "v_mac_f32", "v_fmac_f32", "v_fmac_f64",
                                   "v_pk_fmac_f16", "v_dot2c_f32_f16", "v_dot2c_i32_i16",
                                   "v_dot4c_i32_i8", "v_dot8c_i32_i4", "v_cvt_pkaccum_u8_f32"});
  t.swaps = name == "v_swap_b32";
  t.reads_exec = !is_one_of(name, {"v_readlane_b32", "v_writelane_b32", "v_nop", "v_clrexcp"});
  t.writes_exec = name.starts_with("v_cmpx_");
  t.reads_vcc = name.starts_with("v_div_fmas_");
  return t;
}

Traits memory_traits(std::string_view name) {
  Traits t;
  t.role = memory_role(name);
  t.reads_exec = t.role != Role::kCacheControl && t.role != Role::kCacheInvalidate;
  const bool buffer = name.starts_with("buffer_") || name.starts_with("tbuffer_");
  t.data_in_dst = buffer && (t.role == Role::kStore || t.role == Role::kAtomic);
  t.compares = buffer && contains(name, "_cmpswap");
  return t;
}

Traits lds_traits(std::string_view name) {
  Traits t;
  t.role = lds_role(name);
  t.reads_exec = t.role != Role::kNone;
  t.reads_m0 = contains(name, "addtid") || name == "ds_append" || name == "ds_consume";
  return t;
}

// The traits of a family's opcodes, in their order.
class Family {
 public:
  Family(std::span<const Opcode> opcodes, Traits (*find)(std::string_view)) : opcodes_(opcodes) {
    for (const Opcode& opcode : opcodes) traits_.push_back(find(opcode.mnemonic));
  }
  const Traits* find(const Opcode* opcode) const {
    const std::less<> before;
    const Opcode* const first = opcodes_.data();
    if (before(opcode, first) || !before(opcode, first + opcodes_.size())) return nullptr;
    return &traits_[static_cast<size_t>(opcode - first)];
  }

 private:
  std::span<const Opcode> opcodes_;
  std::vector<Traits> traits_;
};

Traits any_scalar_traits(std::string_view name) {
  for (const char* const prefix : {"s_load_", "s_store_", "s_buffer_", "s_scratch_", "s_atomic_",
                                   "s_dcache_", "s_atc_", "s_memtime", "s_memrealtime"}) {
    if (name.starts_with(prefix)) return scalar_memory_traits(name);
  }
  return scalar_traits(name);
}

Traits matrix_traits(std::string_view) {
  return {};  // EXEC plays no part
}

struct Families {
  Family scalar{isa::scalar_opcodes(), any_scalar_traits};
  Family vector{isa::vector_opcodes(), vector_traits};
  Family matrix{isa::matrix_opcodes(), matrix_traits};
  Family memory{isa::memory_opcodes(), memory_traits};
  Family lds{isa::lds_opcodes(), lds_traits};
};

const Traits& traits_of(const Instruction& i) {
  static constexpr Traits kUnknown;
  if (i.opcode == nullptr) return kUnknown;
  // Never destroyed: the vendor runtime's threads outlive static destructors.
  static const Families& families = *new Families;
  const Traits* found = nullptr;
  switch (i.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopc:
    case Format::kSopk:
    case Format::kSopp:
    case Format::kSmem:
      found = families.scalar.find(i.opcode);
      break;
    case Format::kVop3p:
      found = families.vector.find(i.opcode);
      if (found == nullptr) found = families.matrix.find(i.opcode);
      break;
    case Format::kFlat:
    case Format::kMubuf:
    case Format::kMtbuf:
      found = families.memory.find(i.opcode);
      break;
    case Format::kDs:
      found = families.lds.find(i.opcode);
      break;
    default:
      found = families.vector.find(i.opcode);
      break;
  }
  return found != nullptr ? *found : kUnknown;
}

class Finder {
 public:
  Finder(const Wave& wave, const Instruction& i, Effects& out)
      : wave_(wave), i_(i), opcode_(*i.opcode), traits_(traits_of(i)), out_(out) {}

  void find() {
    implied();
    switch (i_.format) {
      case Format::kSmem:
        scalar_memory();
        break;
      case Format::kFlat:
        flat();
        break;
      case Format::kMubuf:
      case Format::kMtbuf:
        buffer();
        break;
      case Format::kDs:
        sources();
        write(i_.dst, isa::dwords_of(opcode_.dst));
        if (i_.gds && !traits_.reads_m0) read_scalar(isa::scalar::kM0, 1);
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
      if (!traits_.reads_exec) read_scalar(isa::scalar::kExec, 2);
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

  // A source has at least one dword: some types (of constants, say) name none.
  void sources() {
    for (unsigned s = 0; s < 3; ++s) read(i_.src[s], std::max(isa::dwords_of(opcode_.src[s]), 1u));
  }

  void implied() {
    if (traits_.reads_exec) read_scalar(isa::scalar::kExec, 2);
    if (traits_.writes_exec) write_scalar(isa::scalar::kExec, 2);
    if (traits_.reads_vcc) read_scalar(isa::scalar::kVcc, 2);
    if (traits_.reads_m0 || i_.lds) read_scalar(isa::scalar::kM0, 1);
    if (traits_.writes_m0) write_scalar(isa::scalar::kM0, 1);
  }

  void arithmetic() {
    if (traits_.forks || traits_.joins) branch_stack();
    if (traits_.relative_source) {
      read(displaced(i_.src[0], isa::dwords_of(opcode_.src[0])), isa::dwords_of(opcode_.src[0]));
    } else {
      sources();
    }
    const unsigned dwords = std::max(isa::dwords_of(opcode_.dst), 1u);
    if (traits_.accumulates || traits_.swaps) read(i_.dst, dwords);
    if (traits_.swaps) write(i_.src[0], 1);
    write(traits_.relative_result ? displaced(i_.dst, dwords) : i_.dst, dwords);
    write(i_.sdst, 2);
  }

  // M0 is added to the register's number (Vega ISA 3.6.3: out of range, s0 is read, and nothing is
  // written).
  Operand displaced(Operand operand, unsigned dwords) const {
    const uint64_t index = uint64_t{operand.index} + wave_.m0();
    const bool inside = index + dwords <= (wave_.allocated >> 16 & 0xffff);
    if (!inside && traits_.relative_result) return {};
    operand.index = inside ? static_cast<uint16_t>(index) : uint16_t{0};
    return operand;
  }

  // The stack of s_cbranch_*_fork and _join lies in SGPRs, four for each level; MODE has its depth.
  void branch_stack() {
    constexpr unsigned kDepthShift = 29;
    const unsigned depth = wave_.mode_bits >> kDepthShift;
    if (traits_.forks) {
      write_scalar(depth * 4, 4);
    } else if (depth != 0) {
      read_scalar((depth - 1) * 4, 4);
    }
  }

  void scalar_memory() {
    const unsigned data = isa::dwords_of(opcode_.dst);
    read(i_.src[0], isa::dwords_of(opcode_.src[0]));
    read(i_.src[1], 1);
    if (traits_.data_in_dst) read(i_.dst, data);
    returned(data);
  }

  // What a load writes, or an atomic with a result; TFE's status goes to the VGPR behind it.
  void returned(unsigned data) {
    if (traits_.role == Role::kLoad) write(i_.dst, data + i_.tfe);
    if (traits_.role == Role::kAtomic && i_.glc)
      write(i_.dst, (traits_.compares ? data / 2 : data) + i_.tfe);
  }

  void flat() {
    constexpr uint8_t kFlat = 0, kScratch = 1;
    const bool offset_in_vgpr =
        i_.segment == kScratch || i_.src[2].kind == OperandKind::kScalar;  // 32 bits
    read(i_.src[0], offset_in_vgpr ? 1 : 2);
    read(i_.src[1], isa::dwords_of(opcode_.src[1]));
    read(i_.src[2], i_.segment == kScratch ? 1 : 2);
    if (i_.segment == kFlat || i_.segment == kScratch) read_scalar(isa::scalar::kFlatScratch, 2);
    // The decoder leaves `dst` out where nothing is returned.
    write(i_.dst, isa::dwords_of(opcode_.dst));
  }

  void buffer() {
    const unsigned data = isa::dwords_of(opcode_.dst);
    read(i_.src[0], unsigned{i_.offen} + i_.idxen);
    read(i_.src[1], 4);
    read(i_.src[2], 1);
    if (traits_.data_in_dst) read(i_.dst, data);
    if (!i_.lds) returned(data);
  }

  const Wave& wave_;
  const Instruction& i_;
  const Opcode& opcode_;
  const Traits& traits_;
  Effects& out_;
};

}  // namespace

Role role_of(const Instruction& instruction) {
  return traits_of(instruction).role;
}

void find_effects(const Wave& wave, const Instruction& instruction, Effects& effects) {
  if (instruction.opcode != nullptr) Finder(wave, instruction, effects).find();
}

}  // namespace halyard::vgpu::observe
