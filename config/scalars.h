// Single values of a config: parsing, with messages for mistakes.
//
// Each function returns an empty string and sets `out` if `text` is acceptable; otherwise it
// returns the end of a sentence that begins with the key and the text: "is out of range; it must be
// from 1 to 64.". A number with a leading zero is refused, because YAML 1.1 reads `010` as 8 and
// YAML 1.2 as 10.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::config {

std::string read_boolean(std::string_view text, bool& out);
// Decimal or 0x… hexadecimal.
std::string read_integer(std::string_view text, uint64_t& out, uint64_t min, uint64_t max);
std::string read_number(std::string_view text, double& out, double min, double max);

// A number and its unit.
enum class Quantity : uint8_t {
  kSize,       // bytes: B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000)
  kDuration,   // nanoseconds: ns, us, ms, s
  kFrequency,  // hertz: Hz, kHz, MHz, GHz
};
std::string read_quantity(std::string_view text, Quantity quantity, uint64_t& out, uint64_t min,
                          uint64_t max);
// "256MiB": the value in the largest unit that divides it.
std::string quantity_text(uint64_t value, Quantity quantity);
// "B, KiB, MiB, …"
std::string unit_names(Quantity quantity);

std::string read_choice(std::string_view text, std::string& out,
                        const std::vector<std::string>& allowed);

// ", did you mean x?" with the entry of `candidates` that `word` is most likely meant to be, or
// empty if none is near.
std::string guess_of(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace halyard::config
