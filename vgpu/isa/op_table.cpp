#include "vgpu/isa/op_table.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <utility>

namespace halyard::vgpu::isa {
namespace {

// Where a format has its OP field, and how many numbers it can hold (the ISA documents' chapters
// "Microcode Formats").
struct OpField {
  uint8_t shift;
  uint8_t bits;
};
using OpFields = std::array<OpField, kFormats>;
constexpr OpFields kGfx9Fields = {{
    {8, 8},    // SOP1
    {23, 7},   // SOP2
    {16, 7},   // SOPC
    {23, 5},   // SOPK
    {16, 7},   // SOPP
    {18, 8},   // SMEM
    {9, 8},    // VOP1
    {25, 6},   // VOP2
    {17, 8},   // VOPC
    {16, 10},  // VOP3
    {16, 7},   // VOP3P
    {16, 2},   // VINTRP
    {17, 8},   // DS
    {18, 7},   // FLAT
    {18, 7},   // MUBUF
    {15, 4},   // MTBUF
    {18, 7},   // MIMG
    {0, 0},    // EXP
    {20, 2},   // LDSDIR
    {16, 7},   // VINTERP
    {22, 4},   // VOPD: OPX
}};
constexpr OpFields with(OpFields fields, std::initializer_list<std::pair<Format, OpField>> others) {
  for (const auto& [format, field] : others) fields[static_cast<unsigned>(format)] = field;
  return fields;
}
// MTBUF of gfx10 has the upper bit of its OP in the second dword: op_number() joins them.
constexpr OpFields kGfx10Fields = with(
    kGfx9Fields, {{Format::kDs, {18, 8}}, {Format::kMubuf, {18, 8}}, {Format::kMimg, {18, 8}}});
constexpr OpFields kGfx12Fields = with(kGfx10Fields, {{Format::kSmem, {13, 6}},
                                                      {Format::kFlat, {14, 8}},
                                                      {Format::kMubuf, {14, 7}},
                                                      {Format::kMtbuf, {14, 7}},
                                                      {Format::kMimg, {14, 8}}});
constexpr const OpFields& fields_of(Layout layout) {
  switch (layout) {
    case Layout::kGfx9:
      return kGfx9Fields;
    case Layout::kGfx10:
    case Layout::kGfx11:
      return kGfx10Fields;
    case Layout::kGfx12:
      return kGfx12Fields;
  }
  return kGfx9Fields;
}

constexpr unsigned kSegments = 4;  // of FLAT

// The most that a format's field has bits.
constexpr unsigned bits_of(Format format) {
  constexpr unsigned kOpyBits = 5;
  if (format == Format::kVopd) return kOpyBits;
  const auto f = static_cast<unsigned>(format);
  return std::max({kGfx9Fields[f].bits, kGfx10Fields[f].bits, kGfx12Fields[f].bits});
}

constexpr unsigned capacity(Format format) {
  return (format == Format::kFlat ? kSegments : 1) << bits_of(format);
}

// Where a format's entries begin.
constexpr auto kStarts = [] {
  std::array<unsigned, kFormats + 1> starts{};
  for (unsigned f = 0; f < kFormats; ++f)
    starts[f + 1] = starts[f] + capacity(static_cast<Format>(f));
  return starts;
}();

unsigned place(Format format, unsigned number, unsigned segment) {
  return kStarts[static_cast<unsigned>(format)] + (segment << bits_of(format)) + number;
}

}  // namespace

OpTable::OpTable(Generation generation) : entries_(kStarts[kFormats]) {
  for (unsigned n = 1; n < kOps; ++n) {
    const auto op = static_cast<Op>(n);
    const Row& row = row_of(op);
    for (const Encoding& e : row.all_encodings()) {
      if (!e.is_of(generation)) continue;
      entries_[place(e.format, e.number, e.segment)] = {op, e.sdwa, e.dpp,
                                                        e.name ? e.name : row.name};
    }
  }
}

const OpTable& OpTable::of(Generation generation) {
  // Most processes ask for one of them. Never destroyed: the vendor runtime's threads outlive
  // static destructors.
  static std::array<std::once_flag, kGenerations> made;
  static std::array<const OpTable*, kGenerations> tables;
  const auto g = static_cast<unsigned>(generation);
  std::call_once(made[g], [&] { tables[g] = new OpTable(generation); });
  return *tables[g];
}

const OpTable::Entry& OpTable::find(Format format, unsigned number, unsigned segment) const {
  return entries_[place(format, number, segment)];
}

namespace {

// The formats of scalar and of 32-bit vector instructions lie where they always were.
std::optional<Format> short_format(uint32_t word0) {
  if (!(word0 >> 31)) {
    if (word0 >> 25 == 0x3f) return Format::kVop1;
    if (word0 >> 25 == 0x3e) return Format::kVopc;
    return Format::kVop2;
  }
  if (word0 >> 30 != 2) return std::nullopt;
  if (word0 >> 23 == 0x17d) return Format::kSop1;
  if (word0 >> 23 == 0x17e) return Format::kSopc;
  if (word0 >> 23 == 0x17f) return Format::kSopp;
  return word0 >> 28 == 0xb ? Format::kSopk : Format::kSop2;
}

Format gfx9_format(uint32_t word0) {
  switch (word0 >> 26) {
    case 0x30:
      return Format::kSmem;
    case 0x31:
      return Format::kExp;
    case 0x34:
      return word0 >> 23 == 0x1a7 ? Format::kVop3p : Format::kVop3;
    case 0x35:
      return Format::kVintrp;
    case 0x36:
      return Format::kDs;
    case 0x37:
      return Format::kFlat;
    case 0x38:
      return Format::kMubuf;
    case 0x3a:
      return Format::kMtbuf;
    default:
      return Format::kMimg;
  }
}

// RDNA 2 and RDNA 3 ISA.
Format gfx10_format(Layout layout, uint32_t word0) {
  switch (word0 >> 26) {
    case 0x32:
      return layout == Layout::kGfx10 ? Format::kVintrp : Format::kVopd;
    case 0x33:
      if (layout == Layout::kGfx10 || word0 >> 24 == 0xcc) return Format::kVop3p;
      return word0 >> 24 == 0xcd ? Format::kVinterp : Format::kLdsDirect;
    case 0x35:
      return Format::kVop3;
    case 0x36:
      return Format::kDs;
    case 0x37:
      return Format::kFlat;
    case 0x38:
      return Format::kMubuf;
    case 0x3a:
      return Format::kMtbuf;
    case 0x3d:
      return Format::kSmem;
    case 0x3e:
      return Format::kExp;
    default:
      return Format::kMimg;
  }
}

// RDNA 4 ISA: VFLAT, VSCRATCH and VGLOBAL; VBUFFER, of which the numbers from 128 on are typed.
Format gfx12_format(uint32_t word0) {
  switch (word0 >> 26) {
    case 0x31:
      return word0 >> 21 & 1 ? Format::kMtbuf : Format::kMubuf;
    case 0x3b:
      return Format::kFlat;
    case 0x34:  // VIMAGE
    case 0x39:  // VSAMPLE
    case 0x37:  // none of these three
    case 0x38:
    case 0x3a:
      return Format::kMimg;
    default:
      return gfx10_format(Layout::kGfx12, word0);
  }
}

}  // namespace

Format format_of(Layout layout, uint32_t word0) {
  if (const auto format = short_format(word0)) return *format;
  switch (layout) {
    case Layout::kGfx9:
      return gfx9_format(word0);
    case Layout::kGfx10:
    case Layout::kGfx11:
      return gfx10_format(layout, word0);
    case Layout::kGfx12:
      return gfx12_format(word0);
  }
  return Format::kMimg;
}

unsigned segment_of(Layout layout, Format format, uint32_t word0) {
  if (format != Format::kFlat) return 0;
  switch (layout) {
    case Layout::kGfx9:
    case Layout::kGfx10:
      return word0 >> 14 & 3;
    case Layout::kGfx11:
      return word0 >> 16 & 3;
    case Layout::kGfx12:
      return word0 >> 24 & 3;
  }
  return 0;
}

unsigned op_number(Layout layout, Format format, const uint32_t words[]) {
  const OpField field = fields_of(layout)[static_cast<unsigned>(format)];
  if (layout == Layout::kGfx10 && format == Format::kMtbuf)
    return (words[0] >> 16 & 7) | (words[1] >> 21 & 1) << 3;
  return words[0] >> field.shift & ((1u << field.bits) - 1);
}

void set_op_number(Layout layout, Format format, unsigned number, uint32_t words[]) {
  const OpField field = fields_of(layout)[static_cast<unsigned>(format)];
  uint32_t mask = ((1u << field.bits) - 1) << field.shift;
  uint32_t bits = number << field.shift;
  if (layout == Layout::kGfx10 && format == Format::kMtbuf) {
    mask = 7u << 16;
    bits = (number & 7) << 16;
    words[1] = (words[1] & ~(1u << 21)) | number >> 3 << 21;
  }
  words[0] = (words[0] & ~mask) | bits;
}

unsigned op_numbers(Layout layout, Format format) {
  return 1u << fields_of(layout)[static_cast<unsigned>(format)].bits;
}

}  // namespace halyard::vgpu::isa
