// Which instruction an encoding's OP field names, for one generation.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/isa/rows/row.h"

namespace halyard::vgpu::isa {

class OpTable {
 public:
  struct Entry {
    Op op = Op::none;
    bool sdwa = false;
    bool dpp = false;
    const char* name = nullptr;  // as this generation spells it
  };

  // The tables are made at their first use and live as long as the process. Any thread.
  static const OpTable& of(Generation generation);

  // Op::none if the number is none of this format's. `segment`: of FLAT, else 0.
  const Entry& find(Format format, unsigned number, unsigned segment) const;

 private:
  explicit OpTable(Generation generation);

  std::vector<Entry> entries_;
};

// The format that the first dword belongs to.
Format format_of(Layout layout, uint32_t word0);

// The segment of a FLAT instruction: 0 flat, 1 scratch, 2 global. 0 for other formats.
unsigned segment_of(Layout layout, Format format, uint32_t word0);

// The OP field of two dwords, which are of this format.
unsigned op_number(Layout layout, Format format, const uint32_t words[]);
void set_op_number(Layout layout, Format format, unsigned number, uint32_t words[]);
// How many numbers the field can hold.
unsigned op_numbers(Layout layout, Format format);

}  // namespace halyard::vgpu::isa
