#include "vgpu/isa/op_table.h"

#include <array>
#include <mutex>

namespace halyard::vgpu::isa {
namespace {

// Where a format has its OP field, and how many numbers it can hold (Vega ISA, chapter 13).
struct OpField {
  uint8_t shift;
  uint8_t bits;
};
constexpr OpField kOpFields[kFormats] = {
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
};

constexpr unsigned kSegments = 4;  // of FLAT

constexpr unsigned capacity(Format format) {
  const unsigned numbers = 1u << kOpFields[static_cast<unsigned>(format)].bits;
  return format == Format::kFlat ? kSegments * numbers : numbers;
}

// Where a format's entries begin.
constexpr auto kStarts = [] {
  std::array<unsigned, kFormats + 1> starts{};
  for (unsigned f = 0; f < kFormats; ++f)
    starts[f + 1] = starts[f] + capacity(static_cast<Format>(f));
  return starts;
}();

unsigned place(Format format, unsigned number, unsigned segment) {
  const auto f = static_cast<unsigned>(format);
  return kStarts[f] + (segment << kOpFields[f].bits) + number;
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

Format format_of(uint32_t word0) {
  if (!(word0 >> 31)) {
    if (word0 >> 25 == 0x3f) return Format::kVop1;
    if (word0 >> 25 == 0x3e) return Format::kVopc;
    return Format::kVop2;
  }
  if (word0 >> 30 == 2) {
    if (word0 >> 23 == 0x17d) return Format::kSop1;
    if (word0 >> 23 == 0x17e) return Format::kSopc;
    if (word0 >> 23 == 0x17f) return Format::kSopp;
    if (word0 >> 28 == 0xb) return Format::kSopk;
    return Format::kSop2;
  }
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

unsigned op_number(Format format, uint32_t word0) {
  const OpField field = kOpFields[static_cast<unsigned>(format)];
  return word0 >> field.shift & ((1u << field.bits) - 1);
}

void set_op_number(Format format, unsigned number, uint32_t& word0) {
  const OpField field = kOpFields[static_cast<unsigned>(format)];
  const uint32_t mask = ((1u << field.bits) - 1) << field.shift;
  word0 = (word0 & ~mask) | number << field.shift;
}

unsigned op_numbers(Format format) {
  return 1u << kOpFields[static_cast<unsigned>(format)].bits;
}

}  // namespace halyard::vgpu::isa
