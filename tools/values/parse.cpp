// parse_value: a recursive-descent parser over one line of text. Every failure has a position.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "hal/error.h"
#include "hal/file.h"
#include "tools/values/file.h"
#include "tools/values/npy.h"
#include "tools/values/value.h"

namespace halyard::values {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kTokenEnd = " \t\r\n,[]{}";

constexpr int kMaxDepth = 16;  // of structs in structs

size_t round_up(size_t size, size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// A struct, or a part of one.
struct Fields {
  std::vector<std::byte> data;
  std::vector<ValuePointer> pointers;
  size_t alignment = 1;

  // At a multiple of its alignment, as C lays it out.
  void add(const Fields& field) {
    alignment = std::max(alignment, field.alignment);
    data.resize(round_up(data.size(), field.alignment));
    for (ValuePointer pointer : field.pointers) {
      pointer.at += data.size();
      pointers.push_back(std::move(pointer));
    }
    data.insert(data.end(), field.data.begin(), field.data.end());
  }
};

// The text around a position, and a mark below it. Long text is cut on both sides.
std::string marked(std::string_view text, size_t position) {
  constexpr size_t kBefore = 50;
  constexpr size_t kAfter = 30;
  const auto continues = [&](size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  size_t begin = position > kBefore ? position - kBefore : 0;
  while (continues(begin)) ++begin;
  size_t end = std::min(text.size(), position + kAfter);
  while (continues(end)) ++end;
  std::string line = begin == 0 ? "  " : "  …";
  std::string mark = begin == 0 ? "  " : "   ";
  for (size_t i = begin; i < end; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    line += c < 0x20 || c == 0x7f ? '?' : text[i];
    if (i < position && !continues(i)) mark += ' ';
  }
  if (end < text.size()) line += "…";
  return line + "\n" + mark + "^";
}

// Whether all of the text is a number, without a type.
bool is_number(std::string_view text) {
  while (!text.empty() && kSpace.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  if (text == "true" || text == "false") return true;
  std::byte ignored[8];
  if (parse_element(ElementType::kF64, text, ignored) &&
      parse_element(text.starts_with('-') ? ElementType::kI64 : ElementType::kU64, text, ignored))
    return false;
  // "0xf32" and "0xf16" are also empty tensors.
  return !text.starts_with("0x") || !element_type_from_name(text.substr(2));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Value> parse();

 private:
  Status fail(size_t position, std::string_view what) const {
    return error(StatusCode::kInvalidArgument, "The value is malformed at column {}: {}.\n{}",
                 position + 1, what, marked(text_, position));
  }

  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void skip_space() {
    position_ = std::min(text_.find_first_not_of(kSpace, position_), text_.size());
  }
  // Between two elements: white space, at most one comma.
  void skip_separator() {
    skip_space();
    if (take(',')) skip_space();
  }
  std::string_view take_token() {
    const size_t end = std::min(text_.find_first_of(kTokenEnd, position_), text_.size());
    return text_.substr(std::exchange(position_, end), end - position_);
  }
  // "i32", "f8E4M3FN", "complex<f32>"
  std::string_view take_name() {
    const size_t begin = position_;
    while (is_letter(peek()) || is_digit(peek())) ++position_;
    if (peek() == '<') position_ = std::min(text_.find('>', position_), text_.size() - 1) + 1;
    return text_.substr(begin, position_ - begin);
  }
  // How many brackets open here, one behind the other.
  size_t count_brackets() const {
    size_t count = 0;
    for (size_t i = position_; i < text_.size(); ++i) {
      if (text_[i] == '[') {
        ++count;
      } else if (kSpace.find(text_[i]) == std::string_view::npos) {
        break;
      }
    }
    return count;
  }

  Status take_type(TensorType& type);
  Status take_element(ElementType type, std::vector<std::byte>& data);
  Status take_nested(const TensorType& type, size_t dimension, std::vector<std::byte>& data);
  Status take_rows(const TensorType& type, std::vector<std::byte>& data);
  Status take_elements(Value& value);

  Result<Value> file();
  Result<Value> typed_file(Value value);
  Result<Value> shaped();
  Result<Value> scalar();
  Result<Value> lds(Value value);
  Result<Value> hex_bytes(Value value);
  Result<Value> number();
  Status take_pointer(Fields& field);
  Status take_field(Fields& field);
  Status take_fields(Fields& fields, int depth);
  Result<Value> structure();

  std::string_view text_;
  size_t position_ = 0;
};

// "4x4xf32"; no dimensions is a scalar's type.
Status Parser::take_type(TensorType& type) {
  const size_t begin = position_;
  while (is_digit(peek())) {
    const size_t start = position_;
    uint64_t extent = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + start, text_.data() + text_.size(), extent);
    position_ = static_cast<size_t>(end - text_.data());
    if (error != std::errc()) return fail(start, "the size does not fit into 64 bits");
    if (type.shape.size() == kMaxRank) {
      return fail(start, fmt::format("a shape has at most {} dimensions", kMaxRank));
    }
    type.shape.push_back(extent);
    if (!take('x')) return fail(position_, "an 'x' and then a further size or a type is expected");
  }
  const size_t start = position_;
  const auto element = element_type_from_name(take_name());
  if (!element) {
    return fail(
        start, fmt::format("a size or a type is expected; the types are {}", element_type_names()));
  }
  type.element = *element;
  if (!fits_memory(type)) return fail(begin, "the shape is larger than any memory");
  return {};
}

Status Parser::take_element(ElementType type, std::vector<std::byte>& data) {
  const size_t begin = position_;
  const std::string_view token = take_token();
  if (token.empty()) {
    return fail(begin, at_end() ? "a number is expected, but the text ends"
                                : fmt::format("a number is expected, not '{}'", peek()));
  }
  if (token == "...") {
    return fail(begin, "the text is a shortened print; --print-limit=0 prints all elements");
  }
  std::byte bytes[16] = {};
  if (const auto trouble = parse_element(type, token, bytes)) return fail(begin, *trouble);
  data.insert(data.end(), bytes, bytes + byte_size(type));
  return {};
}

// "[[1 2][3 4]]", from the bracket of one dimension to its end.
Status Parser::take_nested(const TensorType& type, size_t dimension, std::vector<std::byte>& data) {
  const size_t begin = position_;
  if (!take('[')) {
    return fail(begin, fmt::format("a '[' is expected: {} nests {} brackets, or none at all",
                                   type.to_string(), type.shape.size()));
  }
  const uint64_t extent = type.shape[dimension];
  skip_space();
  for (uint64_t i = 0; i < extent; ++i) {
    if (peek() == ']' || at_end()) {
      return fail(position_, fmt::format("{} of the {} items of dimension {} of {} are there", i,
                                         extent, dimension, type.to_string()));
    }
    HALYARD_RETURN_IF_ERROR(dimension + 1 == type.shape.size()
                                ? take_element(type.element, data)
                                : take_nested(type, dimension + 1, data));
    if (i + 1 < extent) {
      skip_separator();
    } else {
      skip_space();
    }
  }
  if (!take(']')) {
    return fail(position_, fmt::format("a ']' is expected after {} items of dimension {} of {}",
                                       extent, dimension, type.to_string()));
  }
  return {};
}

// "[1 2][3 4]": the items of the first dimension without brackets around them, as IREE prints them.
Status Parser::take_rows(const TensorType& type, std::vector<std::byte>& data) {
  for (uint64_t i = 0; i < type.shape[0]; ++i) {
    if (at_end()) {
      return fail(position_, fmt::format("{} of the {} items of dimension 0 of {} are there", i,
                                         type.shape[0], type.to_string()));
    }
    HALYARD_RETURN_IF_ERROR(take_nested(type, 1, data));
    skip_separator();
  }
  return {};
}

// What follows the '=' of a shaped value: nested, flat, or one element for all.
Status Parser::take_elements(Value& value) {
  skip_space();
  if (peek() == '[') {
    const size_t rank = value.type.shape.size();
    const bool is_rows = rank > 1 && count_brackets() + 1 == rank;
    HALYARD_RETURN_IF_ERROR(is_rows ? take_rows(value.type, value.data)
                                    : take_nested(value.type, 0, value.data));
    if (is_half_byte(value.type.element)) pack_half_bytes(value.data);
    return {};
  }
  const uint64_t count = value.type.element_count();
  uint64_t taken = 0;
  while (!at_end()) {
    const size_t begin = position_;
    HALYARD_RETURN_IF_ERROR(take_element(value.type.element, value.data));
    if (++taken > count) {
      return fail(begin, fmt::format("{} has only {} elements", value.type.to_string(), count));
    }
    skip_space();
    if (peek() != ',') continue;
    ++position_;
    skip_space();
    if (at_end()) return fail(position_, "a number is expected after the comma");
  }
  if (taken != count && taken != 1) {
    return fail(position_, fmt::format("{} of the {} elements of {} are there (one would stand for "
                                       "all)",
                                       taken, count, value.type.to_string()));
  }
  if (taken == 1 && count > 1) {
    value.contents = Value::Contents::kSplat;
    if (is_half_byte(value.type.element)) value.data.push_back(value.data.front());
  }
  if (is_half_byte(value.type.element)) pack_half_bytes(value.data);
  return {};
}

// "@file": everything after the '@' is the name. What the file holds says what it is; a name that
// promises NumPy's format must not lie, since its bytes would be taken for numbers.
Result<Value> Parser::file() {
  const std::string path(text_.substr(position_));
  if (path.empty()) return fail(position_, "a file name is expected after '@'");
  HALYARD_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(path));
  Value value;
  if (is_npz(bytes) || has_extension(path, ".npz")) {
    return error(
        StatusCode::kInvalidArgument,
        "The file ({}) is an .npz file, an archive of arrays, which is not supported. Save "
        "the one array with numpy.save(\"a.npy\", archive[\"name\"]).",
        path);
  }
  if (!is_npy(bytes) && !has_extension(path, ".npy")) {
    value.kind = Value::Kind::kBytes;
    value.data = std::move(bytes);
    return value;
  }
  auto tensor = read_npy(bytes);
  if (!tensor.ok()) return tensor.status().with_context(fmt::format("The file ({})", path));
  value.kind = Value::Kind::kBuffer;
  value.type = std::move(tensor->type);
  value.data = std::move(tensor->data);
  return value;
}

// "4x4xf32=@file".
Result<Value> Parser::typed_file(Value value) {
  const std::string path(text_.substr(position_));
  HALYARD_ASSIGN_OR_RETURN(Value read, file());
  if (read.kind == Value::Kind::kBuffer && !(read.type == value.type)) {
    return error(StatusCode::kInvalidArgument, "The file ({}) holds {}, not {}.", path,
                 read.type.to_string(), value.type.to_string());
  }
  if (read.data.size() != value.type.bytes()) {
    return error(StatusCode::kInvalidArgument, "The file ({}) has {} bytes, but {} has {}.", path,
                 read.data.size(), value.type.to_string(), value.type.bytes());
  }
  value.data = std::move(read.data);
  return value;
}

Result<Value> Parser::shaped() {
  Value value;
  value.kind = Value::Kind::kBuffer;
  const bool output_only = take('&');
  if (output_only && !is_digit(peek())) {
    return fail(position_, "a shape is expected after '&', as in &1024xf32");
  }
  HALYARD_RETURN_IF_ERROR(take_type(value.type));
  if (output_only) {
    value.contents = Value::Contents::kZero;
    if (!at_end()) return fail(position_, "an output-only buffer ends after its type");
    return value;
  }
  if (at_end()) {  // zeros
    const bool is_none = value.type.element_count() == 0;
    value.contents = is_none ? Value::Contents::kData : Value::Contents::kSplat;
    value.data.resize(is_none ? 0 : byte_size(value.type.element));
    return value;
  }
  if (!take('=')) return fail(position_, "'=' is expected");
  if (take('@')) return typed_file(std::move(value));
  HALYARD_RETURN_IF_ERROR(take_elements(value));
  skip_space();
  if (!at_end()) return fail(position_, "there is text after the last element");
  return value;
}

Result<Value> Parser::scalar() {
  const size_t begin = position_;
  const std::string_view name = take_name();
  Value value;
  if (name == "lds" && take('=')) return lds(std::move(value));
  if (name == "bytes" && take('=')) return hex_bytes(std::move(value));
  if (name == "null" && at_end()) {
    value.kind = Value::Kind::kNull;
    return value;
  }
  const auto element = element_type_from_name(name);
  if (!element) {
    return fail(begin, fmt::format("a value starts with a shape, a type ({}), a number, '@', '&', "
                                   "'{{', bytes= or lds=, or is null",
                                   element_type_names()));
  }
  value.type.element = *element;
  if (!take('=')) return fail(position_, "'=' is expected after the type");
  skip_space();
  HALYARD_RETURN_IF_ERROR(take_element(*element, value.data));
  skip_space();
  if (!at_end()) return fail(position_, "a scalar has one number");
  return value;
}

Result<Value> Parser::lds(Value value) {
  const size_t begin = position_;
  value.kind = Value::Kind::kLds;
  uint32_t size = 0;  // a dispatch has 32 bits for it
  if (const auto trouble = parse_element(ElementType::kU32, take_token(), &size)) {
    return fail(begin, *trouble);
  }
  if (!at_end()) return fail(position_, "lds= has one number");
  value.lds_bytes = size;
  return value;
}

Result<Value> Parser::hex_bytes(Value value) {
  value.kind = Value::Kind::kBytes;
  if (!text_.substr(position_).starts_with("0x")) {
    return fail(position_, "0x and hexadecimal digits are expected");
  }
  position_ += 2;
  while (!at_end()) {
    uint8_t byte = 0;
    const char* begin = text_.data() + position_;
    const char* const limit = begin + std::min<size_t>(2, text_.size() - position_);
    const auto [end, error] = std::from_chars(begin, limit, byte, 16);
    if (error != std::errc() || end != begin + 2) {
      return fail(position_, "two hexadecimal digits are expected for each byte");
    }
    position_ += 2;
    value.data.push_back(std::byte{byte});
  }
  if (value.data.empty()) return fail(position_, "hexadecimal digits are expected");
  return value;
}

// "%a" or "%a+64" behind "ptr=", or "null".
Status Parser::take_pointer(Fields& field) {
  const size_t begin = position_;
  const std::string_view token = take_token();
  field.alignment = sizeof(uint64_t);
  field.data.resize(sizeof(uint64_t));
  if (token == "null") return {};
  ValuePointer pointer;
  pointer.buffer = token.substr(0, token.find('+'));
  const bool has_offset = pointer.buffer.size() < token.size();
  const std::string_view offset = has_offset ? token.substr(pointer.buffer.size() + 1) : "0";
  if (pointer.buffer.size() < 2 || pointer.buffer[0] != '%') {
    return fail(begin, "a buffer of --buffer (ptr=%NAME, ptr=%NAME+BYTES) or ptr=null is expected");
  }
  if (const auto trouble = parse_element(ElementType::kU64, offset, &pointer.offset)) {
    return fail(begin, *trouble);
  }
  field.pointers.push_back(std::move(pointer));
  return {};
}

Status Parser::take_field(Fields& field) {
  if (text_.substr(position_).starts_with("ptr=")) {
    position_ += 4;
    return take_pointer(field);
  }
  TensorType type;
  HALYARD_RETURN_IF_ERROR(take_type(type));
  if (!take('=')) return fail(position_, "'=' is expected after the type");
  if (!type.shape.empty() && peek() != '[') {
    return fail(position_, "an array in a struct has its elements in brackets");
  }
  HALYARD_RETURN_IF_ERROR(type.shape.empty() ? take_element(type.element, field.data)
                                             : take_nested(type, 0, field.data));
  if (!type.shape.empty() && is_half_byte(type.element)) pack_half_bytes(field.data);
  field.alignment = byte_size(complex_part(type.element).value_or(type.element));
  return {};
}

// "{i32=7 2xf32=[1 2] {i8=1}}" from behind its first brace; the whole is padded to a multiple of
// the largest alignment.
Status Parser::take_fields(Fields& fields, int depth) {
  const size_t start = position_;
  skip_space();
  while (!take('}')) {
    if (at_end()) return fail(position_, "a '}' is expected");
    Fields field;
    if (take('{')) {
      if (depth == kMaxDepth) return fail(position_ - 1, "structs are nested too deeply");
      HALYARD_RETURN_IF_ERROR(take_fields(field, depth + 1));
    } else {
      HALYARD_RETURN_IF_ERROR(take_field(field));
    }
    fields.add(field);
    skip_separator();
  }
  if (fields.data.empty()) return fail(start, "a struct has at least one field");
  fields.data.resize(round_up(fields.data.size(), fields.alignment));
  return {};
}

Result<Value> Parser::structure() {
  Fields fields;
  HALYARD_RETURN_IF_ERROR(take_fields(fields, 1));
  skip_space();
  if (!at_end()) return fail(position_, "there is text after the '}'");
  Value value;
  value.kind = Value::Kind::kBytes;
  value.data = std::move(fields.data);
  value.pointers = std::move(fields.pointers);
  return value;
}

// A number on its own. A shape that is one as well ("0xf32") is a shape.
Result<Value> Parser::number() {
  Value value;
  value.kind = Value::Kind::kNumber;
  value.text = take_token();
  skip_space();
  if (!at_end()) return fail(position_, "a number stands alone");
  return value;
}

Result<Value> Parser::parse() {
  skip_space();
  if (at_end()) return fail(position_, "a value is expected, but there is none");
  if (take('@')) return file();
  if (take('{')) return structure();
  if (is_number(text_.substr(position_))) return number();
  if (peek() == '&' || is_digit(peek())) return shaped();
  return scalar();
}

}  // namespace

Result<Value> parse_value(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace halyard::values
