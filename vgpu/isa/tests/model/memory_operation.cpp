#include "vgpu/isa/tests/model/memory_operation.h"

#include <algorithm>
#include <cstring>

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

bool take(std::string& text, const std::string& prefix) {
  if (!text.starts_with(prefix)) return false;
  text.erase(0, prefix.size());
  return true;
}
bool take_end(std::string& text, const std::string& suffix) {
  if (!text.ends_with(suffix)) return false;
  text.erase(text.size() - suffix.size());
  return true;
}

// "ubyte", "short", "dwordx3", "u8", "b128".
bool parse_size(const std::string& text, MemoryOperation& o) {
  struct Size {
    const char* name;
    unsigned bytes;
    bool is_signed;
  };
  constexpr Size kSizes[] = {
      {"ubyte", 1, false},    {"sbyte", 1, true},     {"byte", 1, false},  {"ushort", 2, false},
      {"sshort", 2, true},    {"short", 2, false},    {"dword", 4, false}, {"dwordx2", 8, false},
      {"dwordx3", 12, false}, {"dwordx4", 16, false}, {"u8", 1, false},    {"i8", 1, true},
      {"b8", 1, false},       {"u16", 2, false},      {"i16", 2, true},    {"b16", 2, false},
      {"b32", 4, false},      {"b64", 8, false},      {"b96", 12, false},  {"b128", 16, false},
  };
  for (const Size& s : kSizes) {
    if (text != s.name) continue;
    o.bytes = s.bytes;
    o.is_signed = s.is_signed;
    return true;
  }
  return false;
}

bool parse_halves(std::string& text, MemoryOperation& o) {
  o.high_half = take_end(text, "_d16_hi");
  o.low_half = take_end(text, "_d16");
  return true;
}

bool parse_lds(std::string text, MemoryOperation& o) {
  o.lds = true;
  if (take(text, "read_") || take(text, "write_")) {
    parse_halves(text, o);
    return parse_size(text, o);
  }
  // "add_rtn_u32": the operation, whether it returns, its type and width.
  const size_t last = text.rfind('_');
  if (last == std::string::npos) return false;
  const std::string type = text.substr(last + 1);
  text.erase(last);
  if (text == "pk_add" || text == "pk_add_rtn") {
    if (type != "f16" && type != "bf16") return false;
    o.what = MemoryOperation::What::kAtomic;
    o.returns = text == "pk_add_rtn";
    o.type = type == "f16" ? 'p' : 'q';
    o.op = "add";
    return true;
  }
  if (type != "u32" && type != "u64" && type != "i32" && type != "i64" && type != "b32" &&
      type != "b64" && type != "f32" && type != "f64")
    return false;
  o.what = MemoryOperation::What::kAtomic;
  o.returns = take_end(text, "_rtn");
  o.type = type[0];
  o.bytes = type.ends_with("64") ? 8 : 4;
  o.op = text;
  o.second = text == "cmpst" || text == "mskor" || text == "wrap";
  constexpr const char* kNames[] = {"add", "sub", "rsub", "inc",   "dec",   "min",  "max",
                                    "and", "or",  "xor",  "mskor", "cmpst", "wrap", "wrxchg"};
  return std::find(std::begin(kNames), std::end(kNames), o.op) != std::end(kNames);
}

uint64_t masked(uint64_t x, unsigned bytes) {
  return bytes == 8 ? x : x & 0xffffffff;
}
int64_t as_signed(uint64_t x, unsigned bytes) {
  return bytes == 8 ? static_cast<int64_t>(x) : int64_t{static_cast<int32_t>(x)};
}

// Sums round to nearest even whatever MODE says. Denormals: f32 in memory are flushed before
// gfx942, LDS asks MODE, f64 and pairs in memory are kept (docs/virtual-gpu.md has the sources).
uint64_t float_sum(const MemoryOperation& o, const Mode& mode, uint64_t old, uint64_t data) {
  const bool pairs = o.type == 'p' || o.type == 'q';
  const Float f = o.type == 'p'   ? Float::kF16
                  : o.type == 'q' ? Float::kBF16
                  : o.bytes == 8  ? Float::kF64
                                  : Float::kF32;
  FloatRules rules;
  if (o.lds) rules = mode.rules(pairs ? Float::kF16 : f);
  if (!o.lds && f == Float::kF32 && !o.keeps_denormals) rules = flushing(rules);
  rules.rounding = 0;
  rules.saturate = false;
  if (!pairs) return sum(f, rules, old, data);
  return sum(f, rules, old & 0xffff, data & 0xffff) | sum(f, rules, old >> 16, data >> 16) << 16;
}

bool float_less(const MemoryOperation& o, uint64_t a, uint64_t b) {
  const Float f = o.bytes == 8 ? Float::kF64 : Float::kF32;
  return less(Exact(f, a), Exact(f, b));  // false with a NaN
}

}  // namespace

bool parse_memory(const std::string& name, MemoryOperation& o) {
  std::string text = name;
  if (take(text, "ds_")) {
    if (text.starts_with("write_")) o.what = MemoryOperation::What::kStore;
    return parse_lds(text, o);
  }
  if (!take(text, "flat_") && !take(text, "global_") && !take(text, "scratch_") &&
      !take(text, "buffer_"))
    return false;
  if (take(text, "atomic_")) {
    o.what = MemoryOperation::What::kAtomic;
    if (take_end(text, "_x2")) o.bytes = 8;
    if (take_end(text, "_f64")) o.bytes = 8, o.type = 'f';
    if (take_end(text, "_f32")) o.type = 'f';
    if (text == "pk_add_f16") text = "add", o.type = 'p';
    if (text == "pk_add_bf16") text = "add", o.type = 'q';
    o.op = text;
    o.second = text == "cmpswap";
    return true;
  }
  if (take(text, "store_")) o.what = MemoryOperation::What::kStore;
  take(text, "load_");
  parse_halves(text, o);
  return parse_size(text, o);
}

uint64_t atomic_result(const MemoryOperation& o, const Mode& mode, uint64_t old, uint64_t data,
                       uint64_t second) {
  const auto is = [&](const char* name) { return o.op == name; };
  const int64_t so = as_signed(old, o.bytes), sd = as_signed(data, o.bytes);
  const bool floats = o.type == 'f' || o.type == 'p' || o.type == 'q';
  uint64_t r = 0;
  if (is("swap") || is("wrxchg")) r = data;
  if (is("add")) r = floats ? float_sum(o, mode, old, data) : old + data;
  if (is("sub")) r = old - data;
  if (is("rsub")) r = data - old;
  if (is("inc")) r = old >= data ? 0 : old + 1;
  if (is("dec")) r = old == 0 || old > data ? data : old - 1;
  if (is("and")) r = old & data;
  if (is("or")) r = old | data;
  if (is("xor")) r = old ^ data;
  if (is("smin") || (is("min") && o.type == 'i')) r = sd < so ? data : old;
  if (is("smax") || (is("max") && o.type == 'i')) r = sd > so ? data : old;
  if (is("umin") || (is("min") && o.type == 'u')) r = data < old ? data : old;
  if (is("umax") || (is("max") && o.type == 'u')) r = data > old ? data : old;
  if (is("min") && floats) r = float_less(o, data, old) ? data : old;
  if (is("max") && floats) r = float_less(o, old, data) ? data : old;
  // Memory: the data, then what to compare with. LDS: the other way round.
  if (is("cmpswap")) r = old == second ? data : old;
  if (is("cmpst") && floats) {
    const Float f = o.bytes == 8 ? Float::kF64 : Float::kF32;
    r = equal(Exact(f, old), Exact(f, data)) ? second : old;
  } else if (is("cmpst")) {
    r = old == data ? second : old;
  }
  if (is("mskor")) r = (old & ~data) | second;
  if (is("wrap")) r = old >= data ? old - data : old + second;
  return masked(r, o.bytes);
}

void access_lane(const MemoryOperation& o, const Mode& mode, const Place& place, const Dwords& data,
                 const Dwords& second, Dwords& result) {
  uint8_t bytes[16] = {};
  for (unsigned n = 0; n < o.bytes; ++n) {
    if (const uint8_t* const p = place(n)) bytes[n] = *p;
  }
  const auto put = [&](const void* from) {
    for (unsigned n = 0; n < o.bytes; ++n) {
      if (uint8_t* const p = place(n)) *p = static_cast<const uint8_t*>(from)[n];
    }
  };
  if (o.what == MemoryOperation::What::kStore) {
    const uint32_t upper = data[0] >> 16;
    put(o.high_half ? static_cast<const void*>(&upper) : data.data());
    return;
  }
  if (o.what == MemoryOperation::What::kAtomic) {
    const auto joined = [&](const Dwords& d) {
      return o.bytes == 8 ? d[0] | uint64_t{d[1]} << 32 : d[0];
    };
    uint64_t old = 0;
    std::memcpy(&old, bytes, o.bytes);
    const uint64_t value = atomic_result(o, mode, old, joined(data), joined(second));
    put(&value);
    if (!o.returns) return;
  }
  if (o.bytes >= 4) {
    std::memcpy(result.data(), bytes, o.bytes);
    return;
  }
  uint32_t value = o.bytes == 1 ? bytes[0] : bytes[0] | uint32_t{bytes[1]} << 8;
  if (o.is_signed && (value >> (8 * o.bytes - 1) & 1) != 0) value |= ~0u << (8 * o.bytes);
  // Registers with ECC are written as a whole, and "the unused portion is filled with zero" (CDNA 5
  // ISA, of chips with ECC).
  if (o.ecc && (o.low_half || o.high_half)) result[0] = 0;
  if (o.low_half)
    result[0] = (result[0] & 0xffff0000) | (value & 0xffff);
  else if (o.high_half)
    result[0] = (result[0] & 0xffff) | value << 16;
  else
    result[0] = value;
}

}  // namespace halyard::vgpu::isa::model
