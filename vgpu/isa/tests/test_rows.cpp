// What holds for every row.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "vgpu/isa/op_table.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa::testing {
namespace {

template <class Function>
void for_each_row(Function&& function) {
  for (unsigned n = 1; n < kOps; ++n) function(static_cast<Op>(n), row_of(static_cast<Op>(n)));
}

// A generation spells an instruction in one way, and a spelling means one instruction.
TEST(Rows, NamesAreOfOneInstructionEach) {
  for (unsigned g = 0; g < kGenerations; ++g) {
    const auto generation = static_cast<Generation>(g);
    std::set<std::string> names;
    for_each_row([&](Op op, const Row& row) {
      std::set<std::string> own;
      for (const Encoding& e : row.all_encodings()) {
        if (e.is_of(generation)) own.insert(e.name ? e.name : row.name);
      }
      if (own.empty()) return;
      EXPECT_EQ(own.size(), 1u) << row.name;
      EXPECT_EQ(*own.begin(), name_of(op, generation));
      EXPECT_TRUE(names.insert(*own.begin()).second) << *own.begin();
    });
  }
}

// No number names two instructions.
TEST(Rows, NumbersAreOfOneInstructionEach) {
  for (unsigned g = 0; g < kGenerations; ++g) {
    const auto generation = static_cast<Generation>(g);
    for_each_row([&](Op op, const Row& row) {
      for (const Encoding& e : row.all_encodings()) {
        if (!e.is_of(generation)) continue;
        const bool is_half = e.format == Format::kVopd;  // of OPX or OPY
        const unsigned numbers = op_numbers(layout_of(generation), e.format);
        EXPECT_TRUE(is_half || e.number < numbers) << row.name;
        EXPECT_EQ(OpTable::of(generation).find(e.format, e.number, e.segment).op, op) << row.name;
      }
    });
  }
}

TEST(Rows, AreFoundByEachOfTheirNames) {
  for_each_row([](Op op, const Row& row) {
    EXPECT_EQ(find_op(row.name), op) << row.name;
    for (const Encoding& e : row.all_encodings()) {
      const char* const name = e.name ? e.name : row.name;
      EXPECT_EQ(find_op(name), op) << name;
    }
  });
  EXPECT_EQ(find_op("v_nothing"), Op::none);
}

// What a lane function takes and gives is what the row says that the encoding holds.
TEST(Rows, HaveTheOperandsOfTheirLaneFunctions) {
  unsigned typed = 0;
  for (const Opcode& opcode : vector_opcodes()) {
    if (!opcode.is_typed) continue;
    ++typed;
    const Row& row = row_of(opcode.op);
    EXPECT_EQ(row.dst, opcode.dst) << row.name;
    for (unsigned s = 0; s < 3; ++s) EXPECT_EQ(row.src[s], opcode.src[s]) << row.name << " " << s;
  }
  EXPECT_GT(typed, 400u);
}

// An access has a size where no buffer format gives one, and an atomic an operation.
TEST(Rows, SayWhatTheyDoToMemory) {
  for_each_row([](Op, const Row& row) {
    const isa::Memory& memory = row.memory;
    if (row.has(kGraphics)) return;
    const Format format =
        row.all_encodings().empty() ? Format::kVop3p : row.all_encodings().front().format;
    const bool is_memory = format == Format::kSmem || format == Format::kDs ||
                           format == Format::kFlat || format == Format::kMubuf ||
                           format == Format::kMtbuf;
    if (is_memory) {
      EXPECT_TRUE(memory.access != Access::kNone || std::string(row.name) == "ds_nop") << row.name;
    }
    EXPECT_EQ(memory.access == Access::kAtomic, memory.atomic != AtomicOp::kNone) << row.name;
    EXPECT_EQ(memory.access == Access::kCache, memory.cache != CacheOp::kNone) << row.name;
  });
}

// Names are for people: what an instruction does, its row says. These files put a name into a text,
// or give an instruction its name; coverage.cpp groups them for a page. vgpu/corpus has tests, with
// decisions of their own.
TEST(Rows, NobodyLooksAtNames) {
  const std::set<std::string> allowed = {"isa/decode.cpp", "isa/instruction.h",
                                         "isa/interpreter.cpp"};
  const std::regex reads_a_name("(\\.|->)mnemonic\\b");
  const std::regex compares_a_name(
      "(starts_with|ends_with|find|contains|==)[ (]*\"(v|s|ds|global|"
      "flat|scratch|buffer|tbuffer)_[a-z0-9_]*\"");
  const std::filesystem::path root = HALYARD_VGPU_SOURCES;
  unsigned files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension();
    const std::string file = std::filesystem::relative(entry.path(), root);
    const bool is_test = file.find("tests/") != file.npos || file.starts_with("corpus/");
    if ((extension != ".cpp" && extension != ".h") || is_test) continue;
    ++files;
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    const std::string code = text.str();
    EXPECT_TRUE(allowed.contains(file) || !std::regex_search(code, reads_a_name)) << file;
    EXPECT_TRUE(file == "isa/coverage.cpp" || !std::regex_search(code, compares_a_name)) << file;
  }
  EXPECT_GT(files, 200u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
