#include "plugins/sdk/printf_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace halyard {
namespace {

// A message as ROCm's device library sends it.
class Message {
 public:
  explicit Message(const std::string& format) { text(format); }
  Message& word(uint64_t value) {
    words_.push_back(value);
    return *this;
  }
  Message& real(double value) { return word(std::bit_cast<uint64_t>(value)); }
  Message& text(const std::string& text) {
    const size_t at = words_.size();
    words_.resize(at + text.size() / 8 + 1);
    std::memcpy(words_.data() + at, text.data(), text.size());
    return *this;
  }
  std::string print() const { return printf_text({words_.data(), words_.size()}); }

 private:
  std::vector<uint64_t> words_;
};

TEST(PrintfText, IntegersAreAsLongAsTheirFormatSays) {
  EXPECT_EQ(Message("%d %i|%5d|%-5d|%05d|%+d")
                .word(UINT32_MAX)
                .word(7)
                .word(42)
                .word(42)
                .word(42)
                .word(42)
                .print(),
            "-1 7|   42|42   |00042|+42");
  EXPECT_EQ(Message("%hhd %hd %ld %lld")
                .word(0x1ff)
                .word(0x1ffff)
                .word(UINT64_MAX)
                .word(uint64_t{1} << 40)
                .print(),
            "-1 -1 -1 1099511627776");
  EXPECT_EQ(Message("%u %x %#X %o %lu %hhu")
                .word(UINT64_MAX)
                .word(255)
                .word(255)
                .word(8)
                .word(UINT64_MAX)
                .word(0x1ff)
                .print(),
            "4294967295 ff 0XFF 10 18446744073709551615 255");
  EXPECT_EQ(Message("%c%c|%p").word('h').word('i').word(0xbeef).print(), "hi|0xbeef");
}

TEST(PrintfText, RealNumbersAreDoubles) {
  EXPECT_EQ(Message("%.3f %e %g %8.2f|").real(0.5).real(1e10).real(0.25).real(-2).print(),
            "0.500 1.000000e+10 0.25    -2.00|");
  EXPECT_EQ(Message("%f %f").real(INFINITY).real(-INFINITY).print(), "inf -inf");
}

TEST(PrintfText, StringsAreInTheMessage) {
  EXPECT_EQ(Message("%s and %s.").text("text of more than eight").text("").print(),
            "text of more than eight and .");
  EXPECT_EQ(Message("%.2s|%6s|%-6s|%d").text("abc").text("abc").text("abc").word(7).print(),
            "ab|   abc|abc   |7");
}

TEST(PrintfText, StarsTakeArguments) {
  EXPECT_EQ(Message("%*d|%*d|%.*f|%.*f")
                .word(5)
                .word(42)
                .word(static_cast<uint32_t>(-5))
                .word(42)
                .word(1)
                .real(0.25)
                .word(static_cast<uint32_t>(-1))
                .real(0.25)
                .print(),
            "   42|42   |0.2|0.250000");
}

TEST(PrintfText, PercentAndWhatPrintsNothing) {
  EXPECT_EQ(Message("100%% of %n%d").word(1).word(2).print(), "100% of 2");
  EXPECT_EQ(Message("").print(), "");
}

TEST(PrintfText, AnEndThatComesTooEarlyEndsTheText) {
  EXPECT_EQ(Message("a %d b %d c").word(1).print(), "a 1 b ");
  EXPECT_EQ(Message("a %").print(), "a ");
  EXPECT_EQ(Message("a %5").print(), "a ");
  EXPECT_EQ(Message("a %k b").word(1).print(), "a ");
  EXPECT_EQ(Message("a %*d").print(), "a ");
  EXPECT_EQ(printf_text(Span<const uint64_t>()), "");
  // Nothing ends the string.
  const uint64_t endless = 0x6161616161616161;
  EXPECT_EQ(printf_text({&endless, 1}), "aaaaaaaa");
}

TEST(PrintfText, WideFieldsAreBounded) {
  EXPECT_LE(Message("%999999999d").word(1).print().size(), size_t{1} << 17);
  EXPECT_LE(Message("%.999999999f").real(1).print().size(), size_t{1} << 17);
  EXPECT_LE(Message("%*d").word(INT32_MAX).word(1).print().size(), size_t{1} << 17);
}

// A record of a buffer.
class Record {
 public:
  Record(std::string format, std::vector<uint32_t> sizes) {
    format_.sizes = std::move(sizes);
    format_.text = std::move(format);
  }
  template <typename T>
  Record& add(std::initializer_list<T> values) {
    for (const T& value : values) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
      bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    }
    return *this;
  }
  std::string print(size_t short_strings = 0) const {
    return printf_text(format_, {bytes_.data(), bytes_.size()}, short_strings);
  }

 private:
  PrintfFormat format_;
  std::vector<std::byte> bytes_;
};

TEST(PrintfRecord, ArgumentsHaveTheirSizes) {
  EXPECT_EQ(Record("%d %ld %f %g %s|%c", {4, 8, 4, 8, 8, 4})
                .add<int32_t>({-3})
                .add<int64_t>({-4})
                .add<float>({0.5F})
                .add<double>({0.25})
                .add<char>({'t', 'e', 'x', 't', 0, 0, 0, 0})
                .add<int32_t>({'x'})
                .print(),
            "-3 -4 0.500000 0.25 text|x");
  EXPECT_EQ(Record("%.1f", {2}).add<_Float16>({static_cast<_Float16>(1.5F)}).print(), "1.5");
}

TEST(PrintfRecord, VectorsHaveCommas) {
  EXPECT_EQ(Record("%v4hlf %v3hld.", {16, 16})
                .add<float>({1, 2, 3, 4})
                .add<int32_t>({5, -6, 7, 0})
                .print(),
            "1.000000,2.000000,3.000000,4.000000 5,-6,7.");
  EXPECT_EQ(Record("%2.2v2hlf|%v2hhd", {8, 2}).add<float>({1, 2}).add<int8_t>({-1, 1}).print(),
            "1.00,2.00|-1,1");
  EXPECT_EQ(Record("a%v5d", {20}).add<int32_t>({1, 2, 3, 4, 5}).print(), "a");
}

TEST(PrintfRecord, StringsOfAWholeNumberOfWordsAreShorterThanTheirSize) {
  EXPECT_EQ(Record("%s|%d", {8, 4}).add<char>({'t', 'e', 'x', 't'}).add<int32_t>({7, 0}).print(1),
            "text|7");
  // One of two: the first ends within its last word.
  EXPECT_EQ(Record("%s|%s|%d", {8, 8, 4})
                .add<char>({'l', 'o', 'n', 'g', 'e', 'r', 0, 0})
                .add<char>({'t', 'e', 'x', 't'})
                .add<int32_t>({7, 0})
                .print(1),
            "longer|text|7");
  EXPECT_EQ(Record("%s|%s|%d", {8, 8, 4})
                .add<char>({'t', 'e', 'x', 't'})
                .add<char>({'l', 'o', 'n', 'g', 'e', 'r', 0, 0})
                .add<int32_t>({7, 0})
                .print(1),
            "text|longer|7");
  EXPECT_EQ(count_strings("%s %% %5.2s %d %ls %v4hlf %"), 3u);
}

TEST(PrintfRecord, WhatIsNotThereIsLeftOut) {
  EXPECT_EQ(Record("a %d b %d", {4, 4}).add<int32_t>({1}).print(), "a 1 b ");
  EXPECT_EQ(Record("a %d b", {}).print(), "a ");
  EXPECT_EQ(Record("a %f b", {3}).add<char>({1, 2, 3}).print(), "a ");
}

}  // namespace
}  // namespace halyard
