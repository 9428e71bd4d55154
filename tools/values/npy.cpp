#include "tools/values/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "hal/error.h"

namespace halyard::values {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// A zip file's member begins with a header of 30 bytes, then its name (APPNOTE.TXT, 4.3.7); an
// empty archive is its end record alone, 22 bytes (4.3.16).
constexpr std::string_view kZipMember("PK\x03\x04", 4);
constexpr std::string_view kZipEnd("PK\x05\x06", 4);
constexpr size_t kZipNameSize = 26;  // where the size of the name is, two bytes
constexpr size_t kZipName = 30;
constexpr size_t kZipEndSize = 22;

std::string_view text_of(std::span<const std::byte> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// NumPy's letter and size for each type.
struct DescrRow {
  ElementType type;
  const char* code;
};
constexpr DescrRow kDescrs[] = {
    {ElementType::kI1, "b1"},   {ElementType::kI8, "i1"},     {ElementType::kI16, "i2"},
    {ElementType::kI32, "i4"},  {ElementType::kI64, "i8"},    {ElementType::kU8, "u1"},
    {ElementType::kU16, "u2"},  {ElementType::kU32, "u4"},    {ElementType::kU64, "u8"},
    {ElementType::kF16, "f2"},  {ElementType::kF32, "f4"},    {ElementType::kF64, "f8"},
    {ElementType::kCf64, "c8"}, {ElementType::kCf128, "c16"},
};

Status malformed(std::string_view what) {
  return error(StatusCode::kInvalidArgument, "The file is not a valid .npy file: {}.", what);
}

// Text of the file's for a message.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) result += c >= 0x20 && c < 0x7f ? c : '?';
  return result;
}

// The header is a Python dictionary, of which only what NumPy writes is taken: strings, True and
// False, and tuples of integers.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Status read();

  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<uint64_t>> shape;

 private:
  void skip_space() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }
  bool take(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }
  std::optional<std::string> take_string();
  std::optional<std::vector<uint64_t>> take_tuple();
  Status expected(std::string_view what) const {
    return malformed(fmt::format("its header has no {} at byte {}", what, position_));
  }

  std::string_view text_;
  size_t position_ = 0;
};

std::optional<std::string> HeaderReader::take_string() {
  skip_space();
  if (position_ == text_.size()) return std::nullopt;
  const char quote = text_[position_];
  if (quote != '\'' && quote != '"') return std::nullopt;
  const size_t end = text_.find(quote, position_ + 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::string value(text_.substr(position_ + 1, end - position_ - 1));
  position_ = end + 1;
  return value;
}

std::optional<std::vector<uint64_t>> HeaderReader::take_tuple() {
  if (!take('(')) return std::nullopt;
  std::vector<uint64_t> extents;
  while (!take(')')) {
    skip_space();
    uint64_t extent = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
    if (error != std::errc() || extents.size() == kMaxRank) return std::nullopt;
    position_ += static_cast<size_t>(end - begin);
    extents.push_back(extent);
    take_word("L");  // Python 2 wrote its long integers so
    if (!take(',') && !(position_ < text_.size() && text_[position_] == ')')) return std::nullopt;
  }
  return extents;
}

Status HeaderReader::read() {
  if (!take('{')) return expected("'{'");
  while (!take('}')) {
    const auto key = take_string();
    if (!key) return expected("key in quotes");
    if (!take(':')) return expected("':'");
    if (*key == "descr" && !descr) {
      skip_space();
      if (position_ < text_.size() && text_[position_] == '[') {
        return {StatusCode::kInvalidArgument,
                "It holds a structured type, which is not supported."};
      }
      descr = take_string();
      if (!descr) return expected("type in quotes");
    } else if (*key == "fortran_order" && !fortran_order) {
      if (take_word("True")) {
        fortran_order = true;
      } else if (take_word("False")) {
        fortran_order = false;
      } else {
        return expected("True or False");
      }
    } else if (*key == "shape" && !shape) {
      shape = take_tuple();
      if (!shape) return expected("tuple of sizes");
    } else {
      return malformed(
          fmt::format("its header has the key '{}' twice, or should not have it", printable(*key)));
    }
    take(',');
  }
  skip_space();
  if (position_ != text_.size()) return expected("end");
  if (!descr) return malformed("its header lacks the key 'descr'");
  if (!fortran_order) return malformed("its header lacks the key 'fortran_order'");
  if (!shape) return malformed("its header lacks the key 'shape'");
  return {};
}

Result<ElementType> element_type_of(std::string_view descr) {
  const char order = descr.empty() ? '?' : descr[0];
  const std::string_view code = descr.substr(descr.empty() ? 0 : 1);
  for (const DescrRow& row : kDescrs) {
    if (code != row.code) continue;
    if (order == '<' || order == '=' || order == '|') return row.type;
    if (order == '>') {
      return error(StatusCode::kInvalidArgument,
                   "Its numbers are big endian ('{}'), which is not supported; save "
                   "it with a.astype('<{}').",
                   descr, code);
    }
  }
  return error(StatusCode::kInvalidArgument, "Its type ('{}') has no counterpart among {}.",
               printable(descr), element_type_names());
}

}  // namespace

bool is_npy(std::span<const std::byte> file) noexcept {
  return text_of(file).starts_with(kMagic);
}

bool is_npz(std::span<const std::byte> file) noexcept {
  const std::string_view text = text_of(file);
  if (text.starts_with(kZipEnd)) return text.size() == kZipEndSize;
  if (!text.starts_with(kZipMember) || text.size() < kZipName) return false;
  const size_t size = std::to_integer<size_t>(file[kZipNameSize]) |
                      std::to_integer<size_t>(file[kZipNameSize + 1]) << 8;
  return text.substr(kZipName).size() >= size && text.substr(kZipName, size).ends_with(".npy");
}

Result<Tensor> read_npy(std::span<const std::byte> file, size_t* used) {
  const std::string_view text = text_of(file);
  if (!is_npy(file)) return malformed("it does not start with \\x93NUMPY");
  if (text.size() < 10) return malformed(fmt::format("it ends after {} bytes", text.size()));
  const auto byte_at = [&](size_t i) { return std::to_integer<uint32_t>(file[i]); };
  const uint32_t major = byte_at(6);
  if (major < 1 || major > 3) {
    return malformed(
        fmt::format("its version is {}.{}; 1.0, 2.0 and 3.0 are known", major, byte_at(7)));
  }
  // Version 1 has a 16-bit header length, 2 and 3 a 32-bit one.
  const size_t header_start = major == 1 ? 10 : 12;
  if (text.size() < header_start)
    return malformed(fmt::format("it ends after {} bytes", text.size()));
  size_t header_size = byte_at(8) | byte_at(9) << 8;
  if (major != 1) header_size |= size_t{byte_at(10)} << 16 | size_t{byte_at(11)} << 24;
  if (text.size() - header_start < header_size) {
    return malformed(fmt::format("its header has {} bytes, but it ends after {} of them",
                                 header_size, text.size() - header_start));
  }

  HeaderReader header(text.substr(header_start, header_size));
  HALYARD_RETURN_IF_ERROR(header.read());
  HALYARD_ASSIGN_OR_RETURN(const ElementType element, element_type_of(*header.descr));
  Tensor tensor{{element, *header.shape}, {}};
  if (!fits_memory(tensor.type)) {
    return malformed(
        fmt::format("its shape ({}) is larger than any memory", tensor.type.to_string()));
  }
  if (*header.fortran_order && tensor.type.shape.size() > 1) {
    return Status(
        StatusCode::kInvalidArgument,
        "Its elements are in Fortran order (fortran_order: True), which is not supported; "
        "save it with numpy.ascontiguousarray(a).");
  }
  const auto data = file.subspan(header_start + header_size);
  const uint64_t size = tensor.type.bytes();
  const bool more_follows = used != nullptr && data.size() > size && is_npy(data.subspan(size));
  if (data.size() != size && !more_follows) {
    return malformed(fmt::format("a {} has {} bytes, but {} follow the header",
                                 tensor.type.to_string(), size, data.size()));
  }
  tensor.data.assign(data.begin(), data.begin() + static_cast<ptrdiff_t>(size));
  if (used != nullptr) *used = header_start + header_size + size;
  return tensor;
}

Result<std::string> npy_header(const TensorType& type) {
  const char* code = nullptr;
  for (const DescrRow& row : kDescrs) {
    if (row.type == type.element) code = row.code;
  }
  if (code == nullptr) {
    return error(StatusCode::kInvalidArgument, ".npy files have no type for {}; write a .bin.",
                 to_string(type.element));
  }
  std::string shape;
  for (const uint64_t extent : type.shape) shape += fmt::format("{}, ", extent);
  // NumPy writes (3,) and (2, 3).
  if (type.shape.size() == 1) shape.pop_back();
  if (type.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   byte_size(type.element) == 1 ? '|' : '<', code, shape);
  // Padded so that the data is aligned to 64 bytes; the last character is a newline.
  constexpr size_t kPreamble = 10;
  header.append(63 - (kPreamble + header.size()) % 64, ' ');
  header += '\n';
  std::string result(kMagic);
  result += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
             static_cast<char>(header.size() >> 8)};
  return result + header;
}

}  // namespace halyard::values
