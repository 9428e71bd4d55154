#include "hal/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace halyard {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]);
      const char y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]) && x != y;
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// Names longer than this (mangled C++) are not compared letter by letter.
constexpr size_t kLongest = 256;

// Whether a byte of UTF-8 belongs to the letter before it.
bool continues_letter(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

}  // namespace

std::string_view did_you_mean(std::string_view name,
                              const std::vector<std::string_view>& candidates) {
  if (name.empty() || name.size() > kLongest) return {};
  std::string_view best;
  // A third of the letters may be wrong.
  size_t best_distance = name.size() / 3 + 2;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongest) continue;
    const size_t allowed = std::max<size_t>(1, std::min(name.size(), candidate.size()) / 3 + 1);
    const size_t distance = edit_distance(name, candidate);
    if (distance > allowed || distance >= best_distance) continue;
    if (distance >= std::max(name.size(), candidate.size())) continue;  // nothing in common
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean_clause(std::string_view name,
                                const std::vector<std::string_view>& candidates) {
  const std::string_view meant = did_you_mean(name, candidates);
  if (meant.empty()) return {};
  return " Did you mean \"" + std::string(meant) + "\"?";
}

std::string list_of(const std::vector<std::string_view>& names, size_t limit) {
  if (names.empty()) return "none";
  const size_t shown = std::min(names.size(), std::max<size_t>(limit, 1));
  const size_t rest = names.size() - shown;
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += rest == 0 && i + 1 == shown ? " and " : ", ";
    text += short_name(names[i]);
  }
  if (rest > 0) text += " and " + std::to_string(rest) + " more";
  return text;
}

std::string printable(std::string_view text, size_t limit) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (result.size() >= limit && !continues_letter(byte)) return result + "…";
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string short_name(std::string_view name, size_t limit) {
  if (name.size() <= limit) return printable(name, SIZE_MAX);
  size_t head = limit * 2 / 3;
  size_t tail = name.size() - limit / 3;
  while (head > 0 && continues_letter(static_cast<unsigned char>(name[head]))) --head;
  while (tail < name.size() && continues_letter(static_cast<unsigned char>(name[tail]))) ++tail;
  return printable(name.substr(0, head), SIZE_MAX) + "…" + printable(name.substr(tail), SIZE_MAX);
}

}  // namespace halyard
