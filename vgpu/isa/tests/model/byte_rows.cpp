// Bytes: permutation, averages, sums of absolute differences (Vega ISA 12.10, VOP3A).

#include <algorithm>

#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {
namespace {

uint64_t byte(uint64_t x, unsigned n) {
  return x >> (8 * n) & 0xff;
}
uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}
// Of four bytes; masked: bytes of the reference `b` that are 0 do not count.
uint64_t sad(uint64_t a, uint64_t b, bool masked) {
  uint64_t sum = 0;
  for (unsigned n = 0; n < 4; ++n) {
    if (!masked || byte(b, n) != 0) sum += distance(byte(a, n), byte(b, n));
  }
  return sum;
}
uint64_t fit(bool clamp, uint64_t exact, uint64_t largest) {
  return clamp ? std::min(exact, largest) : exact & largest;
}

Row sum_row(const std::string& name, uint64_t (*sum)(uint32_t, uint32_t)) {
  Row row{name, Kind::kB32, {Kind::kB32, Kind::kB32, Kind::kB32}, [=](Lane& l) {
            l.set(fit(l.clamp, sum(l.u(0), l.u(1)) + l.u(2), 0xffffffff));
          }};
  row.clamps_integer = true;
  return row;
}
// Four sums, of the windows that start at S0's bytes 0 to 3, into four u16.
Row quad_row(const std::string& name, bool masked) {
  Row row{name, Kind::kB64, {Kind::kB64, Kind::kB32, Kind::kB64}, [=](Lane& l) {
            uint64_t r = 0;
            for (unsigned n = 0; n < 4; ++n) {
              const uint64_t exact =
                  sad(l.u64(0) >> (8 * n), l.u(1), masked) + (l.u64(2) >> (16 * n) & 0xffff);
              r |= fit(l.clamp, exact, 0xffff) << (16 * n);
            }
            l.set(r);
          }};
  row.clamps_integer = true;
  return row;
}

}  // namespace

void add_byte_rows(std::vector<Row>& rows) {
  const std::vector<Kind> three(3, Kind::kB32);
  rows.push_back({"v_perm_b32", Kind::kB32, three, [](Lane& l) {
                    // Selectors 0 to 7 are bytes of {S0, S1}, 8 to 11 signs, 12 zero, more 0xff.
                    const uint64_t both = uint64_t{l.u(0)} << 32 | l.u(1);
                    uint64_t r = 0;
                    for (unsigned n = 0; n < 4; ++n) {
                      const auto select = static_cast<unsigned>(byte(l.u(2), n));
                      uint64_t value = 0xff;
                      if (select < 8) value = byte(both, select);
                      if (select >= 8 && select < 12)
                        value = byte(both, 2 * (select - 8) + 1) >= 0x80 ? 0xff : 0;
                      if (select == 12) value = 0;
                      r |= value << (8 * n);
                    }
                    l.set(r);
                  }});
  rows.push_back({"v_lerp_u8", Kind::kB32, three, [](Lane& l) {
                    uint64_t r = 0;
                    for (unsigned n = 0; n < 4; ++n) {
                      r |= (byte(l.u(0), n) + byte(l.u(1), n) + (byte(l.u(2), n) & 1)) / 2
                           << (8 * n);
                    }
                    l.set(r);
                  }});
  rows.push_back(sum_row("v_sad_u8", [](uint32_t a, uint32_t b) { return sad(a, b, false); }));
  rows.push_back(
      sum_row("v_sad_hi_u8", [](uint32_t a, uint32_t b) { return sad(a, b, false) << 16; }));
  rows.push_back(sum_row("v_msad_u8", [](uint32_t a, uint32_t b) { return sad(a, b, true); }));
  rows.push_back(sum_row("v_sad_u16", [](uint32_t a, uint32_t b) {
    return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
  }));
  rows.push_back(sum_row("v_sad_u32", [](uint32_t a, uint32_t b) { return distance(a, b); }));
  rows.push_back(quad_row("v_qsad_pk_u16_u8", false));
  rows.push_back(quad_row("v_mqsad_pk_u16_u8", true));
  Row wide{"v_mqsad_u32_u8", Kind::kB128, {Kind::kB64, Kind::kB32, Kind::kB128}, [](Lane& l) {
             for (unsigned n = 0; n < 4; ++n) {
               const uint64_t exact = sad(l.u64(0) >> (8 * n), l.u(1), true) + l.source[2][n];
               l.result[n] = static_cast<uint32_t>(fit(l.clamp, exact, 0xffffffff));
             }
           }};
  wide.clamps_integer = true;
  rows.push_back(wide);
}

}  // namespace halyard::vgpu::isa::model
