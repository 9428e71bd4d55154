#include "tools/values/input.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "tools/values/npy.h"

namespace halyard::values {
namespace {

std::string name_of(const std::string& path) {
  return path == "-" ? "Standard input" : fmt::format("The file ({})", printable(path));
}

}  // namespace

Result<Value> InputReader::read(std::string_view text) {
  const bool is_more = text.starts_with('+');
  if (!is_more && !text.starts_with('@')) return parse_value(text);
  const std::string path(text.substr(1));
  if (is_more) {
    const auto found = files_.find(path);
    if (found != files_.end()) return next(found->second, path);
    return error(StatusCode::kInvalidArgument,
                 "The value ({}) asks for the next array of a file, but no earlier value reads "
                 "that file. Write @{} for its first array.",
                 printable(text), printable(path));
  }
  if (path.empty()) return parse_value(text);  // says what is missing
  if (path == "-" && files_.contains(path)) {
    return error(StatusCode::kInvalidArgument,
                 "Standard input can be read once (@-). Write +- for its next array.");
  }
  HALYARD_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                           read_file(path == "-" ? "/dev/stdin" : path));
  if (is_npy(bytes)) {
    File& file = files_[path] = {std::move(bytes), 0, 0};
    return next(file, path);
  }
  if (path != "-") return parse_value(text);
  Value value;
  value.kind = Value::Kind::kBytes;
  value.data = std::move(bytes);
  files_[path] = {};  // it is read
  return value;
}

Result<Value> InputReader::next(File& file, const std::string& path) {
  const std::span<const std::byte> rest = std::span(file.bytes).subspan(file.read);
  if (rest.empty()) {
    return error(StatusCode::kInvalidArgument, "{} holds no more than {} array{}.", name_of(path),
                 file.count, file.count == 1 ? "" : "s");
  }
  size_t used = 0;
  auto tensor = read_npy(rest, &used);
  if (!tensor.ok()) return tensor.status().with_context(name_of(path));
  file.read += used;
  ++file.count;
  Value value;
  value.kind = Value::Kind::kBuffer;
  value.type = std::move(tensor->type);
  value.data = std::move(tensor->data);
  return value;
}

Status InputReader::finish() const {
  for (const auto& [path, file] : files_) {
    if (file.read == file.bytes.size()) continue;
    return error(StatusCode::kInvalidArgument,
                 "{} holds more arrays than are read ({}). Write +{} for the next one.",
                 name_of(path), file.count, printable(path));
  }
  return {};
}

}  // namespace halyard::values
