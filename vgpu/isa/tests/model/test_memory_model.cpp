// Flat, global, scratch, buffer and LDS instructions against a model of one lane after the other:
// addresses by the formulas of the Vega ISA (chapters 8 to 11), operations by their names. Lanes
// touch different bytes, as the order of lanes is not defined.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/memory_machine.h"
#include "vgpu/isa/tests/model/memory_operation.h"

namespace halyard::vgpu::isa::model {
namespace {

constexpr unsigned kAddress = 0, kData = 4, kSecond = 8, kResult = 12;

std::string range(char file, unsigned first, unsigned count) {
  const std::string f(1, file);
  if (count <= 1) return f + std::to_string(first);
  return f + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

// HALYARD_MODEL_CASES asks for more than `usual` by hand.
unsigned rounds(unsigned usual) {
  const char* const text = std::getenv("HALYARD_MODEL_CASES");
  return text ? static_cast<unsigned>(std::atoi(text)) : usual;
}

// Everything whose name says what it does, of the formats that tests below are of.
testing::Covered memory_covered([] {
  testing::Names names;
  for (const auto& family : {memory_opcodes(), lds_opcodes()}) {
    for (const Opcode& opcode : family) {
      MemoryOperation operation;
      if (parse_memory(row_of(opcode.op).name, operation)) names.insert(row_of(opcode.op).name);
    }
  }
  return names;
});

class MemoryModel : public ::testing::TestWithParam<MemoryTarget> {
 protected:
  const std::string processor = GetParam().processor;
  MemoryMachine m{processor, GetParam().features};
  std::set<std::string> implemented = find_coverage(processor).implemented;

  void execute(const std::string& text) {
    std::string error;
    const std::vector<uint8_t> code = testing::assemble(text, processor, error);
    ASSERT_EQ(error, "") << text;
    m.run(code, text);
  }

  // Slots 0 to 63 in random order, one for each lane.
  std::vector<unsigned> slots() {
    std::vector<unsigned> s(kLaneCount);
    std::iota(s.begin(), s.end(), 0u);
    std::shuffle(s.begin(), s.end(), m.random);
    // Side by side is a path of its own.
    if (m.below(4) == 0) std::sort(s.begin(), s.end());
    return s;
  }

  // Some offset in a slot of 32 bytes that the access may start at.
  unsigned within(const MemoryOperation& o, bool any) {
    const unsigned unit = o.what == MemoryOperation::What::kAtomic ? o.bytes
                          : any                                    ? 1
                                                                   : std::min(o.bytes, 4u);
    return m.below(16 / unit) * unit;
  }

  // The model: every active lane, whose bytes `place` finds.
  template <class F>
  void model(const MemoryOperation& o, unsigned data, unsigned second, unsigned result, F place) {
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      if ((m.exec() >> lane & 1) == 0) continue;
      Dwords out = m.data(result, lane);
      access_lane(
          o, m.mode, [&](unsigned n) { return place(lane, n); }, m.data(data, lane),
          m.data(second, lane), out);
      const bool writes = o.what == MemoryOperation::What::kLoad || o.returns;
      for (unsigned d = 0; writes && d < o.data_dwords(); ++d) m.r.v[result + d][lane] = out[d];
    }
  }

  // "v[4:5]" of an operation's data; compare and swap has the comparison behind it.
  static std::string data_text(const MemoryOperation& o) {
    return range('v', kData, o.data_dwords() * (o.second && !o.lds ? 2 : 1));
  }
  static std::string result_text(const MemoryOperation& o) {
    return range('v', kResult, o.data_dwords());
  }
  std::string returns_text(const MemoryOperation& o) const {
    if (!o.returns) return "";
    return m.target().scope_bits ? " sc0" : " glc";
  }
  // Memory: the comparison is behind the data.
  static unsigned second_of(const MemoryOperation& o) {
    return o.lds ? kSecond : kData + o.data_dwords();
  }
  // Operands in the order that flat, global and scratch instructions have them.
  static std::string flat_text(const std::string& name, const MemoryOperation& o,
                               const std::string& address) {
    const bool load = o.what == MemoryOperation::What::kLoad;
    if (load) return name + " " + result_text(o) + ", " + address;
    return name + " " + (o.returns ? result_text(o) + ", " : "") + address + ", " + data_text(o);
  }

  // Of those that begin with `prefix` nothing may be left out.
  void expect_covered(const std::string& prefix) const {
    memory_covered.expect_all([&](const std::string& name) {
      return implemented.contains(name) && name.starts_with(prefix);
    });
  }

  // Names with a prefix, and what they do; fails if there are fewer than `least`.
  std::vector<std::pair<std::string, MemoryOperation>> operations(const std::string& prefix,
                                                                  size_t least) {
    std::vector<std::pair<std::string, MemoryOperation>> found;
    for (const std::string& name : implemented) {
      MemoryOperation o;
      if (!name.starts_with(prefix) || !parse_memory(name, o)) continue;
      o.ecc = GetParam().ecc;
      o.keeps_denormals = m.target().f32_atomic_denormals;
      found.emplace_back(name, o);
    }
    EXPECT_GE(found.size(), least) << prefix;
    return found;
  }
};

TEST_P(MemoryModel, Lds) {
  for (const auto& [name, o] : operations("ds_", 85)) {
    for (unsigned n = 0; n < rounds(6); ++n) {
      m.randomize();
      const unsigned offset = m.below(2) ? m.below(64) * 16 : 0;
      const std::vector<unsigned> slot = slots();
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        m.r.v[kAddress][lane] = slot[lane] * 32 + within(o, false);
        if (o.bytes == 8 && o.what != MemoryOperation::What::kAtomic) m.r.v[kAddress][lane] &= ~7u;
        if (o.bytes > 8) m.r.v[kAddress][lane] &= ~15u;
        if (m.below(16) == 0) m.r.v[kAddress][lane] += MemoryMachine::kLdsBytes;  // outside
      }
      std::string text = name + " ";
      if (o.what == MemoryOperation::What::kLoad || o.returns) text += result_text(o) + ", ";
      text += "v0";
      if (o.what != MemoryOperation::What::kLoad) text += ", " + data_text(o);
      if (o.second) text += ", " + range('v', kSecond, o.data_dwords());
      if (offset != 0) text += " offset:" + std::to_string(offset);
      ASSERT_NO_FATAL_FAILURE(execute(text));
      model(o, kData, kSecond, kResult, [&](unsigned lane, unsigned byte) {
        return m.lds_at(uint64_t{m.r.v[kAddress][lane]} + offset + byte);
      });
      ASSERT_NO_FATAL_FAILURE(m.expect_same(text));
    }
    memory_covered.compared(name);
  }
  expect_covered("ds_");
}

TEST_P(MemoryModel, Global) {
  for (auto [name, o] : operations("global_", 48)) {
    for (unsigned n = 0; n < rounds(8); ++n) {
      m.randomize();
      const bool scalar_base = m.below(2) != 0;
      const int offset = static_cast<int>(m.below(8192)) / 16 * 16 - 4096;
      const std::vector<unsigned> slot = slots();
      const uint64_t start = m.base() + 0x4000;
      if (scalar_base) m.r.set_pair(20, start);
      uint64_t address[kLaneCount];
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        const uint32_t from_start = slot[lane] * 32 + within(o, true);
        address[lane] = start + from_start + static_cast<uint64_t>(int64_t{offset});
        m.r.v[kAddress][lane] = from_start;
        if (scalar_base) continue;
        m.r.v[kAddress][lane] = static_cast<uint32_t>(start + from_start);
        m.r.v[kAddress + 1][lane] = static_cast<uint32_t>((start + from_start) >> 32);
      }
      o.returns = o.what == MemoryOperation::What::kAtomic && m.below(2) != 0;
      // gfx908's float adds return nothing.
      if (processor == "gfx908" && (o.type == 'f' || o.type == 'p')) o.returns = false;
      const std::string text = flat_text(name, o, scalar_base ? "v0" : "v[0:1]") +
                               (scalar_base ? ", s[20:21]" : ", off") +
                               " offset:" + std::to_string(offset) + returns_text(o);
      ASSERT_NO_FATAL_FAILURE(execute(text));
      model(o, kData, second_of(o), kResult,
            [&](unsigned lane, unsigned byte) { return m.at(address[lane] + byte); });
      ASSERT_NO_FATAL_FAILURE(m.expect_same(text));
    }
    memory_covered.compared(name);
  }
  expect_covered("global_");
}

// Each lane in memory, LDS or scratch; atomics not in scratch.
TEST_P(MemoryModel, Flat) {
  for (auto [name, o] : operations("flat_", 48)) {
    for (unsigned n = 0; n < rounds(8); ++n) {
      m.randomize();
      const bool atomic = o.what == MemoryOperation::What::kAtomic;
      const unsigned kinds = o.type == 'f' ? 1 : 1 + m.below(atomic ? 2 : 3);
      const unsigned offset = m.below(128) * 16 % 512;
      const std::vector<unsigned> slot = slots();
      uint64_t place[kLaneCount];  // memory: the address; LDS and scratch: the offset
      unsigned kind[kLaneCount];
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        kind[lane] = m.below(kinds);
        uint64_t start = m.base();
        const bool any = kind[lane] != 1;
        place[lane] = slot[lane] * 32 + within(o, any);
        if (kind[lane] == 1) start = MemoryMachine::kSharedBase;
        if (kind[lane] == 2) start = MemoryMachine::kPrivateBase, place[lane] %= 256;
        const uint64_t address = start + place[lane];
        place[lane] += offset + (kind[lane] == 0 ? start : 0);
        m.r.v[kAddress][lane] = static_cast<uint32_t>(address);
        m.r.v[kAddress + 1][lane] = static_cast<uint32_t>(address >> 32);
      }
      o.returns = atomic && m.below(2) != 0;
      const std::string text =
          flat_text(name, o, "v[0:1]") + " offset:" + std::to_string(offset) + returns_text(o);
      ASSERT_NO_FATAL_FAILURE(execute(text));
      model(o, kData, second_of(o), kResult, [&](unsigned lane, unsigned byte) -> uint8_t* {
        if (kind[lane] == 1) return m.lds_at(place[lane] + byte);
        if (kind[lane] == 2) return m.scratch_at(lane, place[lane] + byte);
        return m.at(place[lane] + byte);
      });
      ASSERT_NO_FATAL_FAILURE(m.expect_same(text));
    }
    memory_covered.compared(name);
  }
  expect_covered("flat_");
}

TEST_P(MemoryModel, Scratch) {
  for (const auto& [name, o] : operations("scratch_", 22)) {
    for (unsigned n = 0; n < rounds(8); ++n) {
      m.randomize();
      // SADDR, VADDR, and on gfx942 both or neither.
      const bool any = m.target().architected_flat_scratch;
      const bool scalar = m.below(2) != 0, vector = any ? m.below(2) != 0 : !scalar;
      const int least = scalar || vector ? -128 : 0;
      const int offset = static_cast<int>(m.below(64)) * 4 + least;
      m.r.s[20] = 128 + within(o, true);
      for (uint32_t& x : m.r.v[kAddress]) x = 128 + m.below(16) * 16 + within(o, true);
      const std::string data =
          o.what == MemoryOperation::What::kLoad ? result_text(o) : data_text(o);
      const std::string address = vector ? "v0" : "off", base = scalar ? ", s20" : ", off";
      const std::string text =
          name + " " +
          (o.what == MemoryOperation::What::kLoad ? data + ", " + address : address + ", " + data) +
          base + " offset:" + std::to_string(offset);
      ASSERT_NO_FATAL_FAILURE(execute(text));
      model(o, kData, second_of(o), kResult, [&](unsigned lane, unsigned byte) {
        const unsigned start = (scalar ? m.r.s[20] : 0) + (vector ? m.r.v[kAddress][lane] : 0);
        return m.scratch_at(lane, start + static_cast<unsigned>(offset) + byte);
      });
      ASSERT_NO_FATAL_FAILURE(m.expect_same(text));
    }
    memory_covered.compared(name);
  }
  expect_covered("scratch_");
}

// A buffer's descriptor and one instruction's fields (Vega ISA 8.1.4 to 8.1.8).
struct Buffer {
  uint64_t base = 0;
  uint32_t stride = 0, records = 0;
  bool swizzled = false, add_lane = false, idxen = false, offen = false;
  uint32_t index_stride = 8;
  uint32_t soffset = 0, immediate = 0;

  // Where byte `byte` of an access of `bytes` by a lane is, or 0 if it is outside.
  uint64_t place(uint32_t lane, uint32_t index, uint32_t offset, uint32_t byte,
                 uint32_t bytes) const {
    const uint64_t record = (idxen ? index : 0) + (add_lane ? lane : 0);
    const uint64_t in_record = immediate + (offen ? offset : 0) + byte;
    // NUM_RECORDS counts strides with an index, bytes without (docs/virtual-gpu.md).
    const uint64_t first = in_record - byte;
    const uint64_t linear = record * stride + in_record;
    if (idxen && stride != 0) {
      if (record >= records || first + bytes > stride) return 0;
    } else {
      // A dword counts as a whole; smaller accesses too.
      const uint64_t unit = std::min(bytes, 4u);
      const uint64_t start = (swizzled ? in_record : linear) - byte % unit;
      if (start + unit + soffset > records) return 0;
    }
    if (!swizzled) return base + soffset + linear;
    // Elements of 4 bytes, of `index_stride` records side by side.
    const uint64_t record_block = record / index_stride, record_rest = record % index_stride;
    const uint64_t element = in_record / 4, byte_rest = in_record % 4;
    return base + soffset + (record_block * stride + element * 4) * index_stride + record_rest * 4 +
           byte_rest;
  }
};

TEST_P(MemoryModel, Buffer) {
  for (auto [name, o] : operations("buffer_", 48)) {
    const bool atomic = o.what == MemoryOperation::What::kAtomic;
    for (unsigned n = 0; n < rounds(16); ++n) {
      m.randomize();
      Buffer b;
      b.base = m.base();
      b.swizzled = m.below(3) == 0;
      b.add_lane = m.below(4) == 0;
      b.idxen = !b.add_lane && m.below(3) != 0;
      b.offen = !b.idxen || m.below(2) != 0;
      if (b.add_lane) b.offen = m.below(2) != 0;
      b.index_stride = 8u << m.below(4);
      b.stride = b.idxen || b.add_lane ? 32 + 16 * m.below(2) : 0;
      b.soffset = m.below(8) * 16;
      b.immediate = m.below(2) ? m.below(8) * 4 : 0;
      if (b.immediate % 8 != 0 && o.bytes == 8) b.immediate -= 4;
      if (atomic && b.swizzled && o.bytes == 8) continue;  // no hardware fact is known
      // With an index some lanes are behind the last record; without one, behind the last byte.
      b.records = b.idxen ? 48 : b.add_lane && !b.swizzled ? 32 * 64 : 40 * 32;
      const std::vector<unsigned> slot = slots();
      const unsigned index_register = kAddress, offset_register = kAddress + (b.idxen ? 1 : 0);
      uint32_t index[kLaneCount], offset[kLaneCount];
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        const bool own_record = b.idxen || b.add_lane;
        index[lane] = slot[lane];
        const unsigned unit = atomic ? o.bytes : std::min(o.bytes, 4u);
        offset[lane] = own_record ? m.below(16 / unit) * unit : slot[lane] * 32;
        if (b.idxen) m.r.v[index_register][lane] = index[lane];
        if (b.offen) m.r.v[offset_register][lane] = offset[lane];
      }
      m.r.s[20] = static_cast<uint32_t>(b.base);
      m.r.s[21] =
          static_cast<uint32_t>(b.base >> 32) | b.stride << 16 | (b.swizzled ? 1u << 31 : 0);
      m.r.s[22] = b.records;
      uint32_t index_code = 0;
      while (8u << index_code < b.index_stride) ++index_code;
      m.r.s[23] = (b.add_lane ? 1u << 23 : 0) | index_code << 21;
      m.r.s[24] = b.soffset;
      // An atomic that returns puts the old value where its data was.
      o.returns = atomic && m.below(2) != 0;
      // gfx908's float adds return nothing.
      if (processor == "gfx908" && (o.type == 'f' || o.type == 'p')) o.returns = false;
      const unsigned result = atomic ? kData : kResult;
      const std::string data =
          o.what == MemoryOperation::What::kLoad ? result_text(o) : data_text(o);
      std::string text = name + " " + data + ", ";
      text += b.idxen && b.offen ? "v[0:1]" : b.idxen || b.offen ? "v0" : "off";
      text += ", s[20:23], s24";
      if (b.idxen) text += " idxen";
      if (b.offen) text += " offen";
      text += " offset:" + std::to_string(b.immediate) + returns_text(o);
      ASSERT_NO_FATAL_FAILURE(execute(text));
      model(o, kData, second_of(o), result, [&](unsigned lane, unsigned byte) -> uint8_t* {
        const uint64_t address = b.place(lane, index[lane], offset[lane], byte, o.bytes);
        return address == 0 ? nullptr : m.at(address);
      });
      ASSERT_NO_FATAL_FAILURE(m.expect_same(
          text + (b.swizzled ? " swizzled" : "") + (b.add_lane ? " add_lane" : "") + " stride " +
          std::to_string(b.stride) + " records " + std::to_string(b.records)));
    }
    memory_covered.compared(name);
  }
  expect_covered("buffer_");
}

INSTANTIATE_TEST_SUITE_P(Targets, MemoryModel, ::testing::ValuesIn(kMemoryTargets),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
