#include "vgpu/corpus/compare.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

namespace halyard::vgpu::corpus {
namespace {

// How many floats lie between two of the same width: their bit patterns, with the negative ones
// mirrored, are in the order of their values. -0 and +0 are one apart. Two NaNs are equal.
template <class Bits, unsigned MantissaBits>
bool near(Bits a, Bits b, uint32_t ulps) {
  constexpr Bits kSign = Bits(Bits{1} << (sizeof(Bits) * 8 - 1));
  constexpr Bits kInfinity = Bits((kSign - 1) >> MantissaBits << MantissaBits);
  const bool a_is_nan = Bits(a & ~kSign) > kInfinity, b_is_nan = Bits(b & ~kSign) > kInfinity;
  if (a_is_nan || b_is_nan) return a_is_nan && b_is_nan;
  const auto ordered = [](Bits v) { return Bits(v & kSign ? ~v : v | kSign); };
  const Bits x = ordered(a), y = ordered(b);
  return Bits(x < y ? y - x : x - y) <= Bits(ulps);
}

template <class T>
T read(const uint32_t* words) {
  T value;
  std::memcpy(&value, words, sizeof value);
  return value;
}

bool agree(const uint32_t* a, const uint32_t* b, CorpusCompare compare, uint32_t ulps) {
  switch (compare) {
    case kCorpusExact:
      return *a == *b;
    case kCorpusF16:
      return near<uint16_t, 10>(static_cast<uint16_t>(*a), static_cast<uint16_t>(*b), ulps) &&
             near<uint16_t, 10>(static_cast<uint16_t>(*a >> 16), static_cast<uint16_t>(*b >> 16),
                                ulps);
    case kCorpusF32:
      return near<uint32_t, 23>(*a, *b, ulps);
    case kCorpusF64:
      return near<uint64_t, 52>(read<uint64_t>(a), read<uint64_t>(b), ulps);
  }
  return false;
}

}  // namespace

std::string differences(const std::vector<uint32_t>& expected, const uint32_t* actual,
                        CorpusCompare compare, uint32_t ulps) {
  constexpr unsigned kShown = 8;
  const size_t step = compare == kCorpusF64 ? 2 : 1;
  std::string text;
  size_t count = 0;
  for (size_t i = 0; i + step <= expected.size(); i += step) {
    if (agree(&expected[i], &actual[i], compare, ulps)) continue;
    if (++count > kShown) continue;
    text += fmt::format("word {}: host ", i);
    for (size_t k = step; k-- > 0;) text += fmt::format("{:08x}", expected[i + k]);
    text += ", engine ";
    for (size_t k = step; k-- > 0;) text += fmt::format("{:08x}", actual[i + k]);
    text += '\n';
  }
  if (count > 0) text += fmt::format("{} of {} results differ\n", count, expected.size() / step);
  return text;
}

}  // namespace halyard::vgpu::corpus
