// Which of a reader's functions takes a format's fields.
#pragma once

#include "vgpu/isa/rows/row.h"

namespace halyard::vgpu::isa {

// False if the format's fields are not read: images, the graphics pipeline and pairs.
template <class Reader>
bool read_fields(Reader& reader, Format format) {
  switch (format) {
    case Format::kSop1:
      reader.sop1();
      return true;
    case Format::kSop2:
      reader.sop2();
      return true;
    case Format::kSopc:
      reader.sopc();
      return true;
    case Format::kSopk:
      reader.sopk();
      return true;
    case Format::kSopp:
      reader.sopp();
      return true;
    case Format::kSmem:
      reader.smem();
      return true;
    case Format::kVop1:
      reader.vop1();
      return true;
    case Format::kVop2:
      reader.vop2();
      return true;
    case Format::kVopc:
      reader.vopc();
      return true;
    case Format::kVop3:
      reader.vop3();
      return true;
    case Format::kVop3p:
      reader.vop3p();
      return true;
    case Format::kDs:
      reader.ds();
      return true;
    case Format::kFlat:
      reader.flat();
      return true;
    case Format::kMubuf:
    case Format::kMtbuf:
      reader.buffer();
      return true;
    case Format::kVintrp:
    case Format::kMimg:
    case Format::kExp:
    case Format::kLdsDirect:
    case Format::kVinterp:
    case Format::kVopd:
      return false;
  }
  return false;
}

}  // namespace halyard::vgpu::isa
