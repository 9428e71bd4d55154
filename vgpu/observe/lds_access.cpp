#include "vgpu/observe/lds_access.h"

#include <bit>
#include <string_view>

namespace halyard::vgpu::observe {
namespace {

using isa::Format;
using isa::Instruction;
using isa::Wave;
using Visit = std::function<void(const LdsAccess&)>;

template <class Function>
void for_each_lane(uint64_t mask, Function&& function) {
  for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "…_b8", "…_u16", "…_b128", "…_u8_d16_hi": the bytes of one element.
unsigned element_bytes(std::string_view name) {
  if (const size_t d16 = name.find("_d16"); d16 != std::string_view::npos)
    name = name.substr(0, d16);
  unsigned bits = 0;
  unsigned place = 1;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
    bits += static_cast<unsigned>(name.back() - '0') * place;
    place *= 10;
    name.remove_suffix(1);
  }
  return bits / 8;
}

// Vega ISA 12.13, the DS instructions. Address registers hold byte offsets.
void visit_ds(const Wave& wave, const Instruction& i, const Visit& visit) {
  const std::string_view name = i.mnemonic;
  if (i.gds || has(name, "permute") || has(name, "swizzle") || name == "ds_nop" ||
      name.starts_with("ds_gws")) {
    return;
  }
  const auto offset = static_cast<uint32_t>(i.offset);
  if (has(name, "addtid")) {
    const uint32_t base = (wave.m0() & 0xffff) + offset;
    const LdsUse use = name.starts_with("ds_read") ? LdsUse::kRead : LdsUse::kWrite;
    for_each_lane(wave.exec(), [&](unsigned l) { visit({use, l, base + l * 4, 4}); });
    return;
  }
  if (name == "ds_append" || name == "ds_consume") {
    if (wave.exec() == 0) return;
    const auto lane = static_cast<unsigned>(std::countr_zero(wave.exec()));
    visit({LdsUse::kAtomic, lane, ((wave.m0() >> 16) + offset) & ~3u, 4});
    return;
  }
  const unsigned bytes = element_bytes(name);
  if (i.src[0].kind != isa::OperandKind::kVector || bytes == 0) return;
  const uint32_t* const address = wave.vgpr[i.src[0].index].lane;
  const bool exchanges_two = name.starts_with("ds_wrxchg2");
  if (name.starts_with("ds_read2") || name.starts_with("ds_write2") || exchanges_two) {
    const unsigned unit = bytes * (has(name, "st64") ? 64 : 1);
    LdsUse use = name.starts_with("ds_read2") ? LdsUse::kRead : LdsUse::kWrite;
    if (exchanges_two) use = LdsUse::kAtomic;
    for_each_lane(wave.exec(), [&](unsigned l) {
      visit({use, l, address[l] + (offset & 0xff) * unit, bytes});
      visit({use, l, address[l] + (offset >> 8 & 0xff) * unit, bytes});
    });
    return;
  }
  const bool reads = name.starts_with("ds_read");
  const bool writes = name.starts_with("ds_write");
  for_each_lane(wave.exec(), [&](unsigned l) {
    const uint64_t at = address[l] + offset;  // in 32 bits
    if (reads || writes) {
      visit({reads ? LdsUse::kRead : LdsUse::kWrite, l, at, bytes});
    } else {
      // Atomics ignore the low bits of their address and align to their size (Vega ISA 11.3).
      visit({LdsUse::kAtomic, l, at & ~uint64_t{bytes - 1}, bytes});
    }
  });
}

unsigned flat_bytes(std::string_view name) {
  if (has(name, "_atomic_")) {
    return name.ends_with("_x2") || name.ends_with("_f64") ? 8 : 4;
  }
  if (has(name, "byte")) return 1;
  if (has(name, "short")) return 2;
  if (name.ends_with("x2")) return 8;
  if (name.ends_with("x3")) return 12;
  return name.ends_with("x4") ? 16 : 4;
}

// Flat addresses in the shared aperture (Vega ISA, chapter 10).
void visit_flat(const Wave& wave, const Instruction& i, const Visit& visit) {
  const auto aperture = static_cast<uint32_t>(wave.apertures[0] >> 32);
  if (i.segment != 0 || aperture == 0 || i.src[0].kind != isa::OperandKind::kVector) return;
  const std::string_view name = i.mnemonic;
  LdsUse use = has(name, "_load_") ? LdsUse::kRead : LdsUse::kWrite;
  if (has(name, "_atomic_")) use = LdsUse::kAtomic;
  const unsigned bytes = flat_bytes(name);
  const uint32_t* const low = wave.vgpr[i.src[0].index].lane;
  const uint32_t* const high = wave.vgpr[i.src[0].index + 1].lane;
  for_each_lane(wave.exec(), [&](unsigned l) {
    const uint64_t address =
        (uint64_t{high[l]} << 32 | low[l]) + static_cast<uint64_t>(static_cast<int64_t>(i.offset));
    if (address >> 32 == aperture) visit({use, l, address & 0xffffffff, bytes});
  });
}

// A buffer, global or scratch load with the LDS bit: M0[15:0] + offset + lane * 4 (Vega ISA 8.1.9).
void visit_load_to_lds(const Wave& wave, const Instruction& i, const Visit& visit) {
  const uint32_t base = (wave.m0() & 0xffff) + static_cast<uint32_t>(i.offset);
  for_each_lane(wave.exec(), [&](unsigned l) { visit({LdsUse::kWrite, l, base + l * 4, 4}); });
}

// src_lds_direct: one place for all lanes, M0[15:0], of the type M0[18:16] (Vega ISA 11.3.1).
// v_readlane_b32 and v_readfirstlane_b32 heed no EXEC.
void visit_lds_direct(const Wave& wave, const Instruction& i, const Visit& visit) {
  constexpr unsigned kBytes[] = {1, 2, 4, 4, 1, 2, 4, 4};
  const uint64_t exec = wave.exec();
  if (exec == 0 && !std::string_view(i.mnemonic).starts_with("v_read")) return;
  const unsigned bytes = kBytes[wave.m0() >> 16 & 7];
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  visit({LdsUse::kRead, lane, (wave.m0() & 0xffff) & ~(bytes - 1), bytes});
}

}  // namespace

const char* verb(LdsUse use) {
  switch (use) {
    case LdsUse::kRead:
      return "reads";
    case LdsUse::kWrite:
      return "writes";
    case LdsUse::kAtomic:
      return "updates";
  }
  return "uses";
}

void for_each_lds_access(const Wave& wave, const Instruction& instruction, const Visit& visit) {
  if (instruction.format == Format::kDs) {
    visit_ds(wave, instruction, visit);
  } else if (instruction.lds) {
    visit_load_to_lds(wave, instruction, visit);
  } else if (instruction.format == Format::kFlat) {
    visit_flat(wave, instruction, visit);
  } else if (instruction.src[0].kind == isa::OperandKind::kLdsDirect) {
    visit_lds_direct(wave, instruction, visit);
  }
}

}  // namespace halyard::vgpu::observe
