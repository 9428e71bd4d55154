// Random cases, as text that LLVM's assembler reads (AMDGPUUsage, "Syntax of AMDGPU instructions").

#include <iterator>

#include "vgpu/isa/tests/model/case.h"

namespace halyard::vgpu::isa::model {
namespace {

std::string registers(char file, unsigned first, unsigned count) {
  const std::string f(1, file);
  if (count <= 1) return f + std::to_string(first);
  return f + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}
std::string mask_text(unsigned pair) {
  return pair == kVccRegister ? "vcc" : registers('s', pair, 2);
}
std::string hex(uint64_t x) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[x & 15]);
    x >>= 4;
  } while (x != 0);
  return "0x" + text;
}

struct FloatConstant {
  const char* text;
  uint64_t f16, f32, f64;
};
constexpr FloatConstant kFloatConstants[] = {
    {"0.5", 0x3800, 0x3f000000, 0x3fe0000000000000},
    {"-0.5", 0xb800, 0xbf000000, 0xbfe0000000000000},
    {"1.0", 0x3c00, 0x3f800000, 0x3ff0000000000000},
    {"-1.0", 0xbc00, 0xbf800000, 0xbff0000000000000},
    {"2.0", 0x4000, 0x40000000, 0x4000000000000000},
    {"-2.0", 0xc000, 0xc0000000, 0xc000000000000000},
    {"4.0", 0x4400, 0x40800000, 0x4010000000000000},
    {"-4.0", 0xc400, 0xc0800000, 0xc010000000000000},
    {"0.15915494309189532", 0x3118, 0x3e22f983, 0x3fc45f306dc9c882},
};

// An inline constant: an integer is sign-extended to the operand, a float is of its format.
void make_constant(Source& s, Kind kind, Random& random) {
  s.where = Source::Where::kConstant;
  const bool real = kind == Kind::kF16 || kind == Kind::kF32 || kind == Kind::kF64 ||
                    kind == Kind::kPkF16 || kind == Kind::kBF16 || kind == Kind::kPkBF16;
  if (real && random() % 2 == 0) {
    // LLVM takes the last one's text for a literal if it is a bf16, as it rounds to another number.
    const size_t count = std::size(kFloatConstants) - (format(kind) == Float::kBF16 ? 1 : 0);
    const FloatConstant& c = kFloatConstants[random() % count];
    s.text = c.text;
    s.value = kind == Kind::kF64 ? c.f64 : kind == Kind::kF32 ? c.f32 : c.f16;
    if (format(kind) == Float::kBF16) s.value = c.f32 >> 16;
    return;
  }
  const auto n = static_cast<int64_t>(random() % 81) - 16;
  s.text = std::to_string(n);
  s.value = static_cast<uint64_t>(n);
  if (dwords(kind) == 1) s.value &= 0xffffffff;
}
void make_literal(Source& s, Kind kind, Random& random) {
  s.where = Source::Where::kConstant;
  s.value = random() & (is_half(kind) ? 0xffff : 0xffffffff);
  s.text = hex(s.value);
}

// Not documented: constants of packed f32 and of v_mad_mix.
bool takes_constants(Kind kind) {
  return kind != Kind::kPkF32 && kind != Kind::kMix && kind != Kind::kB128;
}

// SDWA of v_cvt_f32_fp8 and its kin selects the source's part and nothing else.
bool selects_bytes(const Row& row) {
  return !row.sources.empty() && (row.sources[0] == Kind::kByte || row.sources[0] == Kind::kBytes);
}

void choose_sources(Case& c, Random& random) {
  const Row& row = *c.row;
  const bool vectors_only = c.encoding == Encoding::kDpp;
  // One read of scalars for an instruction, whatever it reads.
  bool scalar_left = !row.reads_flag && !row.reads_vcc && !vectors_only;
  for (unsigned i = 0; i < row.sources.size(); ++i) {
    Source& s = c.source[i];
    const Kind kind = row.sources[i];
    if ((row.literal_second && i == 1) || (row.literal_third && i == 2)) {
      make_literal(s, kind, random);
      scalar_left = false;
      continue;
    }
    const bool first_only = c.encoding == Encoding::kShort;
    const bool literals = row.literal_second || row.literal_third;
    // v_div_scale's first source is one of the others, so it is a register that can be set to them.
    const bool only_vector =
        (first_only && i > 0) || vectors_only || (i == 0 && row.name.starts_with("v_div_scale"));
    const unsigned kindly = only_vector ? 0 : random() % 8;
    if (kindly == 1 && scalar_left && !literals) {
      s.where = Source::Where::kScalar;
      s.number = 20 + 4 * static_cast<unsigned>(random() % 8);
      s.text = registers('s', s.number, dwords(kind));
      if (dwords(kind) == 1 && random() % 4 == 0) {
        s.number = kM0Register;
        s.text = "m0";
      }
      if (kind == Kind::kB128) s.text = registers('s', s.number, 4);
      scalar_left = false;
    } else if (kindly == 2 && c.encoding != Encoding::kSdwa && takes_constants(kind)) {
      make_constant(s, kind, random);
    } else if (kindly == 3 && first_only && scalar_left && dwords(kind) == 1 && !literals) {
      make_literal(s, kind, random);
      scalar_left = false;
    } else if (kindly == 4 && i == 0 && scalar_left && dwords(kind) == 1 &&
               c.encoding != Encoding::kSdwa) {
      // Not for all instructions and processors: LLVM's assembler says for which.
      s.where = Source::Where::kLdsDirect;
      s.text = "src_lds_direct";
      scalar_left = false;
    } else {
      s.number = 4 * static_cast<unsigned>(random() % 8);
      s.text = registers('v', s.number, dwords(kind));
    }
  }
}

void choose_modifiers(Case& c, Random& random) {
  const Row& row = *c.row;
  const bool exact = row.ulps == 0;
  for (unsigned i = 0; i < row.sources.size(); ++i) {
    const Kind kind = row.sources[i];
    const bool pair = is_packed16(kind) || kind == Kind::kPkF32;
    const bool takes_sign = is_real(kind) && (c.packed ? pair || kind == Kind::kMix : !pair);
    if (c.encoding != Encoding::kShort && takes_sign) {
      if (random() % 4 == 0) c.negate |= 1u << i;
      // VOP3B has no field for it.
      const bool vop3b = row.writes_flag && row.dst != Kind::kNone;
      if (!vop3b && random() % 4 == 0) c.absolute |= 1u << i;
    }
    if (c.packed) {
      const bool has_halves = is_packed16(kind) || kind == Kind::kPkF32 || kind == Kind::kMix;
      if (has_halves && random() % 2 == 0) c.op_sel |= 1u << i;
      if (has_halves && random() % 2 == 0) c.op_sel_hi &= ~(1u << i);
    } else if (c.encoding == Encoding::kLong && is_half(kind) && random() % 4 == 0) {
      c.op_sel |= 1u << i;
    }
  }
  const bool floats = is_real(row.dst);
  if (c.encoding == Encoding::kLong || c.encoding == Encoding::kSdwa) {
    if (floats && exact && random() % 3 == 0) c.clamp = true;
    if (row.clamps_integer && random() % 2 == 0) c.clamp = true;
    if (floats && exact && !c.packed && random() % 3 == 0)
      c.omod = 1 + static_cast<unsigned>(random() % 3);
  }
  if (c.encoding == Encoding::kLong && !c.packed && is_half(row.dst) && exact && random() % 4 == 0)
    c.op_sel |= 8;
  if (row.selects_byte) c.op_sel = 4 * static_cast<unsigned>(random() % 4);
  if (row.truth_table) c.table = static_cast<unsigned>(random() % 256);
  if (c.encoding == Encoding::kSdwa && selects_bytes(row)) {
    c.clamp = false;
    c.omod = 0;
    c.source_sel[0] = static_cast<unsigned>(random() % 7);
  } else if (c.encoding == Encoding::kSdwa) {
    if (row.dst != Kind::kNone && exact) {
      c.dst_sel = static_cast<unsigned>(random() % 7);
      c.dst_unused = static_cast<unsigned>(random() % 3);
    }
    for (unsigned i = 0; i < 2; ++i) {
      c.source_sel[i] = static_cast<unsigned>(random() % 7);
      const bool integer = i < row.sources.size() && !is_real(row.sources[i]);
      c.extend[i] = integer && row.sources[i] != Kind::kClass && random() % 2 == 0;
    }
  }
}

std::string source_text(const Case& c, unsigned i) {
  std::string text = c.source[i].text;
  const Kind kind = c.row->sources[i];
  if (c.encoding == Encoding::kSdwa && c.extend[i]) return "sext(" + text + ")";
  if (is_packed16(kind) || kind == Kind::kPkF32) return text;
  const bool absolute = (c.absolute >> i & 1) != 0;
  if (absolute) text = "|" + text + "|";
  // "-7" would be another constant.
  if ((c.negate >> i & 1) != 0) text = absolute ? "-" + text : "neg(" + text + ")";
  return text;
}

std::string bit_list(const char* name, unsigned bits, size_t count) {
  std::string text = std::string(" ") + name + ":[";
  for (size_t i = 0; i < count; ++i) text += (i ? "," : "") + std::to_string(bits >> i & 1);
  return text + "]";
}

std::string result_modifiers(const Case& c) {
  constexpr const char* kOmod[] = {"", " mul:2", " mul:4", " div:2"};
  return std::string(c.clamp ? " clamp" : "") + kOmod[c.omod];
}

std::string long_modifiers(const Case& c) {
  std::string text;
  const size_t sources = c.row->sources.size();
  if (c.packed) {
    // v_mad_mix has another default, and dot products of bytes do not have these.
    const bool mix = c.row->sources[0] == Kind::kMix;
    if (mix || c.op_sel != 0) text += bit_list("op_sel", c.op_sel, sources);
    if (mix || c.op_sel_hi != 7) text += bit_list("op_sel_hi", c.op_sel_hi, sources);
    bool halves = false;
    for (const Kind kind : c.row->sources) halves |= is_packed16(kind) || kind == Kind::kPkF32;
    if (halves && c.negate != 0) text += bit_list("neg_lo", c.negate, sources);
    if (halves && c.absolute != 0) text += bit_list("neg_hi", c.absolute, sources);
  } else if (c.row->selects_byte) {
    text += bit_list("op_sel", c.op_sel, 4);
  } else if (c.op_sel != 0) {
    // The destination's bit is the last of the list.
    const unsigned bits = (c.op_sel & 7) | (c.op_sel >> 3 & 1) << sources;
    text += bit_list("op_sel", bits, sources + 1);
  }
  if (c.row->truth_table) text += " bitop3:" + hex(c.table);
  return text + result_modifiers(c);
}

std::string sdwa_modifiers(const Case& c) {
  constexpr const char* kSel[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                  "WORD_0", "WORD_1", "DWORD"};
  constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  std::string text = result_modifiers(c);
  if (c.row->dst != Kind::kNone && !selects_bytes(*c.row)) {
    text += std::string(" dst_sel:") + kSel[c.dst_sel] + " dst_unused:" + kUnused[c.dst_unused];
  }
  for (size_t i = 0; i < c.row->sources.size() && i < 2; ++i)
    text += " src" + std::to_string(i) + "_sel:" + kSel[c.source_sel[i]];
  return text;
}

// DPP_CTRL's codes (Vega ISA 13.3.8) and their names, but for quad_perm's, which are below 0x100.
struct DppControl {
  unsigned code;
  const char* name;
  bool counts;  // the code is that of 0, and 1 to 15 is added
};
constexpr DppControl kDppControls[] = {
    {0x100, "row_shl:", true},         {0x110, "row_shr:", true},
    {0x120, "row_ror:", true},         {0x130, "wave_shl:1", false},
    {0x134, "wave_rol:1", false},      {0x138, "wave_shr:1", false},
    {0x13c, "wave_ror:1", false},      {0x140, "row_mirror", false},
    {0x141, "row_half_mirror", false}, {0x142, "row_bcast:15", false},
    {0x143, "row_bcast:31", false},    {0x150, "row_newbcast:", true},
};

std::string dpp_control(Case& c, Random& random) {
  const auto amount = static_cast<unsigned>(random() % 15) + 1;
  const size_t choice = random() % (std::size(kDppControls) + 1);
  if (choice < std::size(kDppControls)) {
    const DppControl& control = kDppControls[choice];
    c.control = control.code + (control.counts ? amount : 0);
    return std::string(" ") + control.name + (control.counts ? std::to_string(amount) : "");
  }
  c.control = static_cast<unsigned>(random() % 256);
  std::string text = " quad_perm:[";
  for (unsigned i = 0; i < 4; ++i)
    text += (i ? "," : "") + std::to_string(c.control >> (2 * i) & 3);
  return text + "]";
}
std::string dpp_modifiers(Case& c, Random& random) {
  std::string text = dpp_control(c, random);
  if (random() % 2 == 0) c.row_mask = static_cast<unsigned>(random() % 16);
  if (random() % 2 == 0) c.bank_mask = static_cast<unsigned>(random() % 16);
  c.bound_control = random() % 2 == 0;
  text += " row_mask:" + hex(c.row_mask) + " bank_mask:" + hex(c.bank_mask);
  return text + (c.bound_control ? " bound_ctrl:0" : "");
}

bool is_packed_row(const Row& row) {
  if (row.name == "v_pk_fmac_f16") return false;  // VOP2
  if (row.name.starts_with("v_pk_") || row.name.find("_mix") != std::string::npos) return true;
  return row.name.starts_with("v_dot") && row.name.find("c_") == std::string::npos;
}

}  // namespace

Case random_case(const Row& row, Encoding encoding, bool modifiers, Random& random) {
  Case c;
  c.row = &row;
  c.encoding = encoding;
  c.packed = encoding == Encoding::kLong && is_packed_row(row);
  choose_sources(c, random);
  if (modifiers) choose_modifiers(c, random);
  c.dst = 4 * static_cast<unsigned>(random() % 12);
  if (encoding == Encoding::kLong || (encoding == Encoding::kSdwa && row.dst == Kind::kNone)) {
    if (random() % 2 == 0) c.flag_out = 60 + 2 * static_cast<unsigned>(random() % 8);
    if (encoding == Encoding::kLong && random() % 2 == 0)
      c.flag_in = 60 + 2 * static_cast<unsigned>(random() % 8);
  }

  constexpr const char* kSuffix[] = {"_e32", "_e64", "_sdwa", "_dpp"};
  c.text = row.name;
  const bool only_long = row.literal_second || row.literal_third || c.packed;
  if (!only_long) c.text += kSuffix[static_cast<unsigned>(encoding)];
  std::string separator = " ";
  const auto put = [&](const std::string& operand) {
    c.text += separator + operand;
    separator = ", ";
  };
  if (row.dst != Kind::kNone) put(registers('v', c.dst, dwords(row.dst)));
  if (row.writes_flag) put(mask_text(c.flag_out));
  for (unsigned i = 0; i < row.sources.size(); ++i) put(source_text(c, i));
  if (row.reads_flag) put(mask_text(c.flag_in));
  if (encoding == Encoding::kLong) c.text += long_modifiers(c);
  if (encoding == Encoding::kSdwa) c.text += sdwa_modifiers(c);
  if (encoding == Encoding::kDpp) c.text += dpp_modifiers(c, random);
  return c;
}

}  // namespace halyard::vgpu::isa::model
