#include <array>
#include <cstring>

#include "vgpu/isa/rows/notation.h"
#include "vgpu/isa/rows/row.h"

namespace halyard::vgpu::isa {
namespace {

using namespace rows;  // NOLINT: what the notation is made of

constexpr std::array<Row, kOps> kRows = {
    Row{},
#define INSTRUCTION(name, ...) rows::row(#name, __VA_ARGS__),
#include "vgpu/isa/rows/all.inc"
#undef INSTRUCTION
};

}  // namespace

const Row& row_of(Op op) {
  return kRows[static_cast<unsigned>(op)];
}

const char* name_of(Op op, Generation g) {
  const Row& row = row_of(op);
  for (const Encoding& e : row.all_encodings()) {
    if (e.is_of(g) && e.name) return e.name;
  }
  return row.name;
}

Op find_op(const char* name) {
  for (unsigned n = 1; n < kOps; ++n) {
    const auto op = static_cast<Op>(n);
    const Row& row = row_of(op);
    if (std::strcmp(row.name, name) == 0) return op;
    for (const Encoding& e : row.all_encodings()) {
      if (e.name && std::strcmp(e.name, name) == 0) return op;
    }
  }
  return Op::none;
}

}  // namespace halyard::vgpu::isa
