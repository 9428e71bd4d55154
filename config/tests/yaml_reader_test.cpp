// What a config's author sees: which mistakes are caught, where, and in which words.
#include "config/yaml_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace halyard::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Reading {
  Diagnostics diagnostics;
  Document document;

  explicit Reading(std::string_view text) { document.load_text(text, "f.yaml", diagnostics); }
  Map root() { return document.root(diagnostics); }
};

TEST(YamlReader, ReadsEveryKindOfValue) {
  Reading r(
      "name: vega\nok: true\ncount: 0x10\nmemory: 1.5GiB\nwait: 50us\nclock: 100MHz\n"
      "mode: fast\ninner:\n  n: 7\n");
  Map map = r.root();
  std::string name, mode;
  bool ok = false;
  uint64_t count = 0, memory = 0, wait = 0, clock = 0;
  uint32_t n = 0;
  EXPECT_TRUE(map.string("name", name));
  EXPECT_TRUE(map.boolean("ok", ok));
  EXPECT_TRUE(map.integer("count", count, 0, 100));
  EXPECT_TRUE(map.size("memory", memory, 0, uint64_t{1} << 40));
  EXPECT_TRUE(map.duration("wait", wait, 0, 1000000000));
  EXPECT_TRUE(map.frequency("clock", clock, 1, 1000000000));
  EXPECT_TRUE(map.choice("mode", mode, {"slow", "fast"}));
  Map inner = map.child("inner");
  EXPECT_TRUE(inner.integer("n", n, 0u, 10u));
  inner.finish();
  map.finish();
  EXPECT_THAT(r.diagnostics.errors(), IsEmpty());
  EXPECT_EQ(name, "vega");
  EXPECT_TRUE(ok);
  EXPECT_EQ(count, 16u);
  EXPECT_EQ(memory, 3u * 512 * 1024 * 1024);
  EXPECT_EQ(wait, 50000u);
  EXPECT_EQ(clock, 100000000u);
  EXPECT_EQ(mode, "fast");
  EXPECT_EQ(n, 7u);
}

TEST(YamlReader, AbsentKeyLeavesTheDefaultAndIsNoError) {
  Reading r("a: 1\n");
  Map map = r.root();
  uint64_t a = 0, b = 42;
  EXPECT_TRUE(map.integer("a", a, 0, 9));
  EXPECT_FALSE(map.integer("b", b, 0, 99));
  map.finish();
  EXPECT_EQ(b, 42u);
  EXPECT_TRUE(r.diagnostics.ok());
}

TEST(YamlReader, UnknownKeyNamesItsPlaceAndTheLikelyKey) {
  Reading r("a: 1\ngpu:\n  memory_sise: 1GiB\n");
  Map map = r.root();
  uint64_t a = 0, size = 0;
  map.integer("a", a, 0, 9);
  Map gpu = map.child("gpu");
  gpu.size("memory_size", size, 0, uint64_t{1} << 40);
  gpu.finish();
  map.finish();
  EXPECT_THAT(r.diagnostics.errors(),
              ElementsAre(AllOf(StartsWith("f.yaml:3:3: "), HasSubstr("(memory_sise)"),
                                HasSubstr("did you mean memory_size?"), HasSubstr("gpu"))));
}

TEST(YamlReader, UnknownKeyThatResemblesNothingListsTheKeys) {
  Reading r("zebra: 1\n");
  Map map = r.root();
  bool flag = false;
  map.boolean("execute", flag);
  map.finish();
  EXPECT_THAT(r.diagnostics.errors(), ElementsAre(AllOf(HasSubstr("the keys there are: execute"),
                                                        testing::Not(HasSubstr("did you mean")))));
}

TEST(YamlReader, DuplicateKeyIsAnErrorAtTheSecondOne) {
  Reading r("a: 1\nb: 2\na: 3\n");
  Map map = r.root();
  EXPECT_THAT(r.diagnostics.errors(),
              ElementsAre(AllOf(StartsWith("f.yaml:3:1: "), HasSubstr("twice"))));
}

TEST(YamlReader, WrongTypesAreErrorsAndDoNotTouchTheResult) {
  Reading r("n: many\nflag: yes please\nlist: [1, 2]\nmap: 3\nneg: -1\n");
  Map map = r.root();
  uint64_t n = 5;
  bool flag = false;
  std::string text = "kept";
  EXPECT_FALSE(map.integer("n", n, 0, 9));
  EXPECT_FALSE(map.boolean("flag", flag));
  EXPECT_FALSE(map.string("list", text));
  map.child("map").finish();
  EXPECT_FALSE(map.integer("neg", n, 0, 9));
  map.finish();
  EXPECT_EQ(n, 5u);
  EXPECT_EQ(text, "kept");
  EXPECT_THAT(
      r.diagnostics.errors(),
      ElementsAre(AllOf(StartsWith("f.yaml:1:4: "), HasSubstr("(many)")), HasSubstr("(yes please)"),
                  HasSubstr("a list"), HasSubstr("must be a mapping"), HasSubstr("(-1)")));
}

TEST(YamlReader, OutOfRangeNamesTheLimits) {
  Reading r("n: 70\nsize: 3GiB\nwait: 2s\n");
  Map map = r.root();
  uint64_t v = 0;
  map.integer("n", v, 1, 64);
  map.size("size", v, 1 << 20, uint64_t{2} << 30);
  map.duration("wait", v, 0, 1000000000);
  EXPECT_THAT(r.diagnostics.errors(),
              ElementsAre(AllOf(HasSubstr("(70)"), HasSubstr("from 1 to 64")),
                          AllOf(HasSubstr("(3GiB)"), HasSubstr("from 1MiB to 2GiB")),
                          AllOf(HasSubstr("(2s)"), HasSubstr("to 1s"))));
}

TEST(YamlReader, SizeWithoutUnitSaysWhichUnitsThereAre) {
  Reading r("size: 4096\nwait: 5 minutes\n");
  Map map = r.root();
  uint64_t v = 0;
  EXPECT_FALSE(map.size("size", v, 0, 1 << 30));
  EXPECT_FALSE(map.duration("wait", v, 0, 1 << 30));
  EXPECT_THAT(r.diagnostics.errors(),
              ElementsAre(AllOf(HasSubstr("(4096)"), HasSubstr("MiB"), HasSubstr("such as 256MiB")),
                          AllOf(HasSubstr("(5 minutes)"), HasSubstr("50us"))));
}

TEST(YamlReader, ChoiceSuggestsTheNearestWord) {
  Reading r("mode: fats\n");
  Map map = r.root();
  std::string mode;
  EXPECT_FALSE(map.choice("mode", mode, {"slow", "fast"}));
  EXPECT_THAT(r.diagnostics.errors(), ElementsAre(HasSubstr("did you mean fast?")));
}

TEST(YamlReader, SyntaxErrorHasItsPlace) {
  Diagnostics diagnostics;
  Document document;
  EXPECT_FALSE(document.load_text("a: 1\nb: [1, 2\n", "broken.yaml", diagnostics));
  EXPECT_THAT(diagnostics.errors(),
              ElementsAre(AllOf(StartsWith("broken.yaml:"), HasSubstr("not valid YAML"))));
}

// yaml-cpp itself never comes back from these.
TEST(YamlReader, CommaOutsideOfBracketsIsASyntaxError) {
  const char* const kTexts[] = {",", "a: 1\n---\n, b", "{a: 1},b", "'a', b", "&a ,"};
  for (const char* const text : kTexts) {
    Diagnostics diagnostics;
    Document document;
    EXPECT_FALSE(document.load_text(text, "comma.yaml", diagnostics)) << text;
    EXPECT_THAT(diagnostics.errors(),
                ElementsAre(AllOf(StartsWith("comma.yaml:"), HasSubstr("not valid YAML"))))
        << text;
  }
}

TEST(YamlReader, TopLevelMustBeAMapping) {
  Diagnostics diagnostics;
  Document document;
  EXPECT_FALSE(document.load_text("- 1\n- 2\n", "list.yaml", diagnostics));
  EXPECT_FALSE(document.load_text("a: 1\n---\nb: 2\n", "two.yaml", diagnostics));
  EXPECT_THAT(diagnostics.errors(), ElementsAre(HasSubstr("a list"), HasSubstr("several")));
}

std::vector<std::string> errors_of(std::string_view text) {
  Diagnostics diagnostics;
  Document document;
  EXPECT_FALSE(document.load_text(text, "f.yaml", diagnostics)) << text.substr(0, 100);
  return diagnostics.errors();
}

TEST(YamlReader, LeadingZerosAreRefusedWhereverANumberStands) {
  Reading r("n: 010\nsize: 08MiB\nx: 01.5\nzero: 0\nfraction: 0.5\nhex: 0x10\n");
  Map map = r.root();
  uint64_t n = 5, size = 6, zero = 7, hex = 0;
  double x = 8, fraction = 0;
  EXPECT_FALSE(map.integer("n", n, 0, 99));
  EXPECT_FALSE(map.size("size", size, 0, 1 << 30));
  EXPECT_FALSE(map.number("x", x, 0, 9));
  EXPECT_TRUE(map.integer("zero", zero, 0, 9));
  EXPECT_TRUE(map.number("fraction", fraction, 0, 9));
  EXPECT_TRUE(map.integer("hex", hex, 0, 99));
  EXPECT_EQ(n, 5u);
  EXPECT_EQ(fraction, 0.5);
  EXPECT_EQ(hex, 16u);
  EXPECT_THAT(r.diagnostics.errors(),
              ElementsAre(AllOf(StartsWith("f.yaml:1:4: "), HasSubstr("(010) begins with a zero")),
                          AllOf(StartsWith("f.yaml:2:7: "), HasSubstr("(08MiB)")),
                          AllOf(StartsWith("f.yaml:3:4: "), HasSubstr("(01.5)"))));
}

TEST(YamlReader, MessagesNameAKeyByItsWholePath) {
  Reading r("gpus:\n  - gpu:\n      cus: many\n      cuss: 4\n");
  Map root = r.root();
  uint64_t cus = 0;
  for (Map& entry : root.list("gpus")) {
    Map gpu = entry.child("gpu");
    gpu.integer("cus", cus, 1, 9);
    gpu.finish();
  }
  EXPECT_THAT(r.diagnostics.errors(),
              ElementsAre(StartsWith("f.yaml:3:12: gpus[0].gpu.cus (many) is not"),
                          AllOf(StartsWith("f.yaml:4:7: The key (cuss) is unknown in gpus[0].gpu"),
                                HasSubstr("did you mean cus?"))));
}

TEST(YamlReader, ListsOfSingleValuesHaveTheirPlaces) {
  Reading r("paths: [a, b]\none: c\nbad: [a, [b]]\nmap: {a: 1}\n");
  Map map = r.root();
  std::vector<LocatedText> texts;
  ASSERT_TRUE(map.strings("paths", texts));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1].text, "b");
  EXPECT_EQ(texts[1].where.to_string(), "f.yaml:1:12");
  ASSERT_TRUE(map.strings("one", texts, true));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].where.to_string(), "f.yaml:2:6");
  EXPECT_FALSE(map.strings("one", texts));
  EXPECT_FALSE(map.strings("bad", texts));
  EXPECT_FALSE(map.strings("map", texts, true));
  EXPECT_EQ(texts.size(), 1u);
  EXPECT_THAT(
      r.diagnostics.errors(),
      ElementsAre(HasSubstr("must be a list of"), StartsWith("f.yaml:3:10: bad[1] is a list"),
                  HasSubstr("must be a single value or a list of")));
}

TEST(YamlReader, NumbersHaveARange) {
  Reading r("a: 1e-5\nb: 1.5x\nc: 7\nd: nan\n");
  Map map = r.root();
  double value = 0;
  EXPECT_TRUE(map.number("a", value, 0, 1));
  EXPECT_EQ(value, 1e-5);
  EXPECT_FALSE(map.number("b", value, 0, 1));
  EXPECT_FALSE(map.number("c", value, 0, 1));
  EXPECT_FALSE(map.number("d", value, 0, 1));
  EXPECT_THAT(r.diagnostics.errors(), ElementsAre(HasSubstr("(1.5x) is not a number"),
                                                  HasSubstr("from 0 to 1"), HasSubstr("(nan)")));
}

// A kilobyte of aliases stands for gigabytes of values.
TEST(YamlReader, AliasesMayNotMakeALargeFileOfASmallOne) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    text += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
                        i - 1);
  }
  EXPECT_THAT(errors_of(text),
              ElementsAre(AllOf(StartsWith("f.yaml:6:"), HasSubstr("more than 100000 values"))));
  Reading small("a: &a [x, y]\nb: *a\n");
  std::vector<LocatedText> texts;
  EXPECT_TRUE(small.root().strings("b", texts));
  EXPECT_EQ(texts.size(), 2u);
}

TEST(YamlReader, AnAliasInsideOfWhatItNamesIsRefused) {
  EXPECT_THAT(errors_of("a: &a\n  - *a\n"),
              ElementsAre(AllOf(StartsWith("f.yaml:2:5: "), HasSubstr("never end"))));
}

TEST(YamlReader, DepthAndLengthAreBounded) {
  EXPECT_THAT(errors_of("a: " + std::string(65, '[')),
              ElementsAre(HasSubstr("more than 64 levels deep")));
  EXPECT_THAT(errors_of("# " + std::string(1 << 20, 'x')),
              ElementsAre(HasSubstr("larger than 1048576 bytes")));
}

TEST(YamlReader, AFileWithoutAnEndIsRefused) {
  Diagnostics diagnostics;
  Document document;
  EXPECT_FALSE(document.load_file("/dev/zero", diagnostics));
  EXPECT_THAT(diagnostics.errors(), ElementsAre(StartsWith("/dev/zero: The file is larger than")));
}

TEST(YamlReader, EmptyFileIsAnEmptyMapping) {
  Reading r("# nothing but a comment\n");
  Map map = r.root();
  map.finish();
  EXPECT_TRUE(r.diagnostics.ok());
}

TEST(YamlReader, MissingFileIsNamed) {
  Diagnostics diagnostics;
  Document document;
  EXPECT_FALSE(document.load_file("/nonexistent/x.yaml", diagnostics));
  EXPECT_THAT(diagnostics.errors(), ElementsAre(StartsWith("/nonexistent/x.yaml: ")));
}

TEST(YamlReader, DirectoryInsteadOfAFileIsAnError) {
  Diagnostics diagnostics;
  Document document;
  EXPECT_FALSE(document.load_file("/", diagnostics));
  EXPECT_FALSE(diagnostics.ok());
}

}  // namespace
}  // namespace halyard::config
