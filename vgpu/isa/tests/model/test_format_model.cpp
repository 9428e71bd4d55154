// Formatted buffer loads and stores in every data and number format, against a model over exact
// numbers (Vega ISA 8.1.3 and 8.1.5, and the tables of buffer data and number formats).
//
// The document names no rounding for stores; nearest even is what was decided, and that D16 forms
// go through f32. Which NaN comes out is not known either: any does.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/memory_machine.h"

namespace halyard::vgpu::isa::model {
namespace {

// Names are from the highest bits to the lowest, components from the lowest on.
struct DataFormat {
  unsigned code;
  const char* name;
  std::vector<unsigned> bits;
};
const DataFormat kData[] = {
    {1, "8", {8}},
    {2, "16", {16}},
    {3, "8_8", {8, 8}},
    {4, "32", {32}},
    {5, "16_16", {16, 16}},
    {6, "10_11_11", {11, 11, 10}},
    {7, "11_11_10", {10, 11, 11}},
    {8, "10_10_10_2", {2, 10, 10, 10}},
    {9, "2_10_10_10", {10, 10, 10, 2}},
    {10, "8_8_8_8", {8, 8, 8, 8}},
    {11, "32_32", {32, 32}},
    {12, "16_16_16_16", {16, 16, 16, 16}},
    {13, "32_32_32", {32, 32, 32}},
    {14, "32_32_32_32", {32, 32, 32, 32}},
};
constexpr const char* kNumbers[] = {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"};
enum Number : unsigned { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kFloat = 7 };

bool is_integer(unsigned number) {
  return number == kUint || number == kSint;
}
bool is_signed(unsigned number) {
  return number == kSnorm || number == kSscaled || number == kSint;
}
int64_t value_of(uint32_t raw, unsigned bits, bool with_sign) {
  const int64_t x = raw;
  return with_sign && (x >> (bits - 1)) != 0 ? x - (int64_t{1} << bits) : x;
}
int64_t largest(unsigned bits, bool with_sign) {
  return (int64_t{1} << (with_sign ? bits - 1 : bits)) - 1;
}

// Floats of 16 bits are f16; those of 11 and 10 bits are f16 without sign and lower bits.
unsigned cut_bits(unsigned bits) {
  return 15 - bits;
}

uint32_t to_register(uint32_t raw, unsigned bits, unsigned number) {
  const auto single = [](const Exact& x) {
    return static_cast<uint32_t>(round_to(Float::kF32, x, 0));
  };
  const int64_t value = value_of(raw, bits, is_signed(number));
  if (is_integer(number)) return static_cast<uint32_t>(value);
  if (number == kUscaled || number == kSscaled) return single(Exact::integer(value));
  if (number == kFloat) {
    if (bits == 32) return raw;
    return single(Exact(Float::kF16, bits == 16 ? raw : raw << cut_bits(bits)));
  }
  const int64_t limit = largest(bits, number == kSnorm);
  Exact quotient;
  mpfr_set_si(quotient.get(), std::max(value, -limit), MPFR_RNDN);
  mpfr_div_si(quotient.get(), quotient.get(), limit, MPFR_RNDN);
  // An integer 0 has no sign.
  if (value == 0) return 0;
  return single(quotient);
}

uint32_t to_memory(uint32_t x, unsigned bits, unsigned number) {
  const int64_t mask = (int64_t{1} << bits) - 1, high = largest(bits, is_signed(number));
  const int64_t low = is_signed(number) ? -high - 1 : 0;
  if (is_integer(number)) {
    const int64_t value = number == kSint ? int64_t{static_cast<int32_t>(x)} : int64_t{x};
    return static_cast<uint32_t>(std::clamp(value, low, high) & mask);
  }
  if (number == kFloat) {
    if (bits == 32) return x;
    const Exact exact(Float::kF32, x);
    if (bits == 16) return static_cast<uint32_t>(round_to(Float::kF16, exact, 0));
    if (nan(Float::kF32, x))
      return static_cast<uint32_t>(default_nan(Float::kF16) >> cut_bits(bits));
    if (negative(Float::kF32, x)) return 0;
    // Units of the last place: 2^-(significand's bits), at least that of denormals.
    const int fraction = static_cast<int>(bits) - 5;
    if (mpfr_inf_p(exact.get())) return 31u << fraction;
    const long exponent =
        zero(Float::kF32, x) ? -14 : std::max<long>(mpfr_get_exp(exact.get()) - 1, -14);
    const Exact units = integral(scale(exact, fraction - exponent), 0);
    const auto count = static_cast<uint32_t>(mpfr_get_ui(units.get(), MPFR_RNDN));
    return std::min((static_cast<uint32_t>(exponent + 14) << fraction) + count, 31u << fraction);
  }
  if (nan(Float::kF32, x)) return 0;
  const bool normalized = number == kUnorm || number == kSnorm;
  Exact exact(Float::kF32, x);
  const Exact least(normalized ? (number == kSnorm ? -1.0 : 0.0) : static_cast<double>(low));
  const Exact most(normalized ? 1.0 : static_cast<double>(high));
  if (less(exact, least)) exact = least;
  if (less(most, exact)) exact = most;
  if (normalized) exact = multiply(exact, Exact::integer(high));
  const Exact whole = integral(exact, normalized ? 0 : 3);
  return static_cast<uint32_t>(mpfr_get_si(whole.get(), MPFR_RNDN) & mask);
}

// What D16 makes of a component, and of its half of a register.
uint32_t to_half(uint32_t x, unsigned number) {
  if (is_integer(number)) return x & 0xffff;
  return static_cast<uint32_t>(round_to(Float::kF16, Exact(Float::kF32, x), 0));
}
uint32_t from_half(uint32_t half, unsigned number) {
  if (number == kUint) return half & 0xffff;
  if (number == kSint) return static_cast<uint32_t>(static_cast<int16_t>(half));
  return static_cast<uint32_t>(round_to(Float::kF32, Exact(Float::kF16, half & 0xffff), 0));
}

struct Form {
  bool typed, store, d16, high;  // tbuffer; the D16 forms, and the one with the upper half
  unsigned components;
  std::string name() const {
    constexpr const char* kComponents[] = {"", "x", "xy", "xyz", "xyzw"};
    return std::string(typed ? "tbuffer_" : "buffer_") +
           (store ? "store_format_" : "load_format_") + (d16 ? high ? "d16_hi_" : "d16_" : "") +
           kComponents[components];
  }
};

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const bool store : {false, true}) {
    for (const bool typed : {false, true}) {
      for (unsigned components = 1; components <= 4; ++components) {
        for (const bool d16 : {false, true})
          forms.push_back({typed, store, d16, false, components});
      }
    }
    forms.push_back({false, store, true, true, 1});
  }
  return forms;
}

testing::Covered formats_covered([] {
  testing::Names names;
  for (const Form& form : all_forms()) names.insert(form.name());
  return names;
});

class FormatModel : public ::testing::TestWithParam<MemoryTarget> {
 protected:
  static constexpr unsigned kValues = 4;  // the first register of data

  const std::string processor = GetParam().processor;
  MemoryMachine m{processor, GetParam().features};

  uint32_t raw_bits(uint64_t address, unsigned first, unsigned bits) {
    uint32_t raw = 0;
    for (unsigned k = 0; k < bits; ++k)
      raw |= static_cast<uint32_t>(*m.at(address + (first + k) / 8) >> (first + k) % 8 & 1) << k;
    return raw;
  }
  void put_bits(uint64_t address, unsigned first, unsigned bits, uint32_t raw) {
    for (unsigned k = 0; k < bits; ++k) {
      uint8_t& byte = *m.at(address + (first + k) / 8);
      const auto bit = static_cast<uint8_t>(1u << (first + k) % 8);
      byte = static_cast<uint8_t>((raw >> k & 1) != 0 ? byte | bit : byte & ~bit);
    }
  }

  void load(const Form& form, const DataFormat& data, unsigned number, uint32_t selects,
            unsigned lane, uint64_t address, bool inside) {
    std::array<uint32_t, 4> component{};
    unsigned first = 0;
    for (size_t c = 0; inside && c < data.bits.size(); ++c) {
      component[c] = to_register(raw_bits(address, first, data.bits[c]), data.bits[c], number);
      first += data.bits[c];
    }
    const uint32_t one = is_integer(number) ? 1 : 0x3f800000;
    // A missing fourth component is one.
    if (data.bits.size() < 4 && inside) component[3] = one;
    for (unsigned c = 0; c < form.components; ++c) {
      const unsigned select = selects >> (3 * c) & 7;
      const uint32_t value = select >= 4 ? component[select - 4] : select == 1 ? one : 0;
      uint32_t& whole = m.r.v[kValues + c][lane];
      if (!form.d16) {
        whole = value;
        continue;
      }
      uint32_t& half = m.r.v[kValues + c / 2][lane];
      const uint32_t bits = to_half(value, number);
      // A register with ECC has nothing in the half that no component goes to.
      if (GetParam().ecc && (form.high || c % 2 == 0)) half = 0;
      half = form.high || c % 2 ? (half & 0xffff) | bits << 16 : (half & 0xffff0000) | bits;
    }
  }
  void store(const Form& form, const DataFormat& data, unsigned number, unsigned lane,
             uint64_t address) {
    unsigned first = 0;
    for (unsigned c = 0; c < data.bits.size(); ++c) {
      // Components that the instruction does not have are its last one's.
      const unsigned from = std::min(c, form.components - 1);
      uint32_t value = m.r.v[kValues + from][lane];
      if (form.d16) {
        const uint32_t pair = m.r.v[kValues + from / 2][lane];
        value = from_half(form.high || from % 2 ? pair >> 16 : pair, number);
      }
      put_bits(address, first, data.bits[c], to_memory(value, data.bits[c], number));
      first += data.bits[c];
    }
  }

  // No NaNs among the operands.
  void remove_nans() {
    for (unsigned v = kValues; v < kValues + 4; ++v) {
      for (uint32_t& x : m.r.v[v]) {
        if (nan(Float::kF32, x)) x &= 0xbfffffff;
        if (nan(Float::kF16, x & 0xffff)) x &= ~0x4000u;
        if (nan(Float::kF16, x >> 16)) x &= ~0x40000000u;
      }
    }
  }

  void check(const Form& form, const DataFormat& data, unsigned number) {
    m.randomize();
    remove_nans();
    unsigned size = 0;
    for (const unsigned bits : data.bits) size += bits / 8;
    for (const unsigned bits : data.bits) size = bits % 8 ? 4 : size;
    const bool identity = m.below(2) != 0;
    uint32_t selects = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    if (!identity) {
      constexpr uint32_t kSelects[] = {0, 1, 4, 5, 6, 7};
      selects = 0;
      for (unsigned c = 0; c < 4; ++c) selects |= kSelects[m.below(6)] << (3 * c);
    }
    // Indexed records of 16 bytes; the last four are outside.
    constexpr unsigned kRecords = 60, kStride = 16;
    m.r.s[20] = static_cast<uint32_t>(m.base());
    m.r.s[21] = static_cast<uint32_t>(m.base() >> 32) | kStride << 16;
    m.r.s[22] = kRecords;
    m.r.s[23] = selects | number << 12 | data.code << 15;
    for (unsigned lane = 0; lane < kLaneCount; ++lane) m.r.v[0][lane] = lane * 37 % 64;
    // Memory without NaNs in any format, but for what becomes of 32 bits.
    for (unsigned record = 0; record < 64; ++record) {
      unsigned first = 0;
      const uint64_t address = m.base() + uint64_t{record} * kStride;
      for (const unsigned bits : data.bits) {
        const uint32_t raw = raw_bits(address, first, bits);
        const bool float_nan = bits == 32   ? nan(Float::kF32, raw)
                               : bits == 16 ? nan(Float::kF16, raw)
                                            : bits >= 10 && (raw >> (bits - 5) & 31) == 31;
        if (number == kFloat && float_nan) m.replace_bit(address, first + bits - 2);
        first += bits;
      }
    }
    const unsigned registers = form.d16 ? (form.components + 1) / 2 : form.components;
    std::string text = form.name() + " v";
    text += registers == 1 ? "4" : "[4:" + std::to_string(3 + registers) + "]";
    text += ", v0, s[20:23], 0";
    if (form.typed) {
      text += std::string(" format:[BUF_DATA_FORMAT_") + data.name + ",BUF_NUM_FORMAT_" +
              (number == kFloat ? "FLOAT" : kNumbers[number]) + "]";
    }
    text += " idxen";
    std::string error;
    const std::vector<uint8_t> code = testing::assemble(text, processor, error);
    ASSERT_EQ(error, "") << text;
    m.run(code, text);
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      if ((m.exec() >> lane & 1) == 0) continue;
      const unsigned record = m.r.v[0][lane];
      const uint64_t address = m.base() + uint64_t{record} * kStride;
      const bool inside = record < kRecords;
      if (!form.store)
        load(form, data, number, selects, lane, address, inside);
      else if (inside)
        store(form, data, number, lane, address);
    }
    ASSERT_NO_FATAL_FAILURE(
        m.expect_same(text + " of " + data.name + " " + std::to_string(number)));
  }
};

TEST_P(FormatModel, EveryFormat) {
  for (const Form& form : all_forms()) {
    for (const DataFormat& data : kData) {
      for (const unsigned number : {kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kFloat}) {
        // There are no floats of 8 or 2 bits, and of 32 bits nothing else but integers.
        const bool narrow = std::ranges::any_of(data.bits, [](unsigned b) { return b < 10; });
        if (number == kFloat && (narrow || data.code == 9)) continue;
        if (number < kUint && data.bits[0] == 32) continue;
        ASSERT_NO_FATAL_FAILURE(check(form, data, number));
      }
    }
    formats_covered.compared(form.name());
  }
  formats_covered.expect_all([](const std::string&) { return true; });
}

INSTANTIATE_TEST_SUITE_P(Targets, FormatModel, ::testing::ValuesIn(kMemoryTargets),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
