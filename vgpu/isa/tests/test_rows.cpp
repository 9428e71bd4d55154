// What holds for every row.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

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

// What only some files may do: by file, or by folder with its slash, why they may.
using Reasons = std::map<std::string, const char*>;
struct Rule {
  const char* what;
  std::regex code;
  Reasons files;
};

// Of all files of vgpu/. A reason that no file needs any longer is a failure too.
void expect_only_reasons(const std::vector<Rule>& rules, const Reasons& folders) {
  const std::filesystem::path root = HALYARD_VGPU_SOURCES;
  unsigned files = 0;
  std::set<std::string> used;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h") continue;
    const std::string file = std::filesystem::relative(entry.path(), root);
    ++files;
    std::ifstream stream(entry.path());
    const std::string code{std::istreambuf_iterator<char>(stream), {}};
    for (const Rule& rule : rules) {
      if (!std::regex_search(code, rule.code)) continue;
      const auto folder = std::ranges::find_if(
          folders, [&](const auto& one) { return file.starts_with(one.first); });
      const bool may = folder != folders.end() || rule.files.contains(file);
      EXPECT_TRUE(may) << file << " " << rule.what;
      used.insert(folder != folders.end() ? folder->first : file);
    }
  }
  EXPECT_GT(files, 200u);
  for (const auto& [folder, why] : folders)
    EXPECT_TRUE(used.contains(folder)) << folder << " needs no reason any longer: " << why;
  for (const Rule& rule : rules) {
    for (const auto& [file, why] : rule.files)
      EXPECT_TRUE(used.contains(file)) << file << " needs no reason any longer: " << why;
  }
}

// Names are for people: what an instruction does, its row says. Nothing of the product looks at a
// name, but for files that write one into a text or look one up. Whoever judges the engine must
// know instructions from elsewhere than its rows: by the names that the ISA documents and LLVM give
// them.
TEST(Rows, NobodyLooksAtNames) {
  expect_only_reasons(
      {{"reads a mnemonic",
        std::regex("(\\.|->)mnemonic\\b"),
        {{"isa/decode.cpp", "gives an instruction its name"},
         {"isa/instruction.h", "name_of(), for texts"},
         {"isa/interpreter.cpp", "names the instruction of a fault"}}},
       {"compares a name",
        std::regex("(starts_with|ends_with|find|contains|==)[ (]*\"(v|s|ds|global|flat|scratch|"
                   "buffer|tbuffer)_[a-z0-9_]*\""),
        {{"isa/coverage.cpp", "groups names for docs/isa-coverage.md"}}},
       {"looks a name up",
        std::regex("\\bfind_op\\("),
        {{"isa/rows/row.h", "declares it"},
         {"isa/rows/rows.cpp", "defines it"},
         {"isa/coverage.cpp", "reads the names of docs/isa-coverage.md"},
         {"observe/fidelity.cpp", "adds up the reports of several processes"}}}},
      {{"isa/tests/", "the tests and the second models of instructions"},
       {"isa/valu/tests/", "those of the lane functions"},
       {"observe/tests/", "what the observers say, beside LLVM's words"},
       {"corpus/", "dependences of waits, from LLVM's text of each instruction"}});
}

// Generations and processors differ by the named facts of a Target.
TEST(Rows, NobodyAsksWhichProcessorItIs) {
  expect_only_reasons({{"compares a generation",
                        std::regex("(==|!=|<|>|<=|>=) (isa::)?Generation::kGfx9\\w"),
                        {{"isa/llvm_text.cpp", "which releases of LLVM know it"},
                         {"isa/fidelity.cpp", "what was compared with hardware, and on which"}}},
                       {"compares a processor",
                        std::regex("(==|!=) \"gfx9"),
                        {{"isa/target.cpp", "gives processors their facts"},
                         {"kfd/runtime_processors.cpp", "which runtime knows which"}}}},
                      {{"isa/tests/", "tests run what a processor has"},
                       {"kfd/tests/", "and ask for their profile"},
                       {"coherence/tests/", "and know its caches"}});
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
