#include "metadata.h"

#include <msgpack.hpp>

#include "hal/error.h"

namespace halyard::internal {

// msgpack-cxx calls this as it reads. Nothing is set aside for a count that is only claimed.
class TreeBuilder : public msgpack::null_visitor {
 public:
  explicit TreeBuilder(std::vector<MetadataTree::Node>& nodes) : nodes_(nodes) {}

  // Deeper than any metadata there is (kernels, arguments: five).
  static constexpr size_t kDepth = 32;

  bool too_deep() const { return too_deep_; }
  bool parse_failed() const { return failed_; }
  size_t error_offset() const { return error_offset_; }

  bool visit_nil() { return add({}); }
  bool visit_boolean(bool v) { return add({.type = Type::kBoolean, .number = v ? 1u : 0u}); }
  bool visit_positive_integer(uint64_t v) { return add({.type = Type::kInteger, .number = v}); }
  bool visit_negative_integer(int64_t v) {
    return add({.type = Type::kInteger, .negative = true, .number = -static_cast<uint64_t>(v)});
  }
  bool visit_float32(float) { return add({}); }
  bool visit_float64(double) { return add({}); }
  bool visit_str(const char* v, uint32_t size) {
    return add({.type = Type::kString, .text = {v, size}});
  }
  bool visit_bin(const char*, uint32_t) { return add({}); }
  bool visit_ext(const char*, uint32_t) { return add({}); }
  bool start_array(uint32_t) { return open({.type = Type::kArray}); }
  bool start_map(uint32_t) { return open({.type = Type::kMap}); }
  bool end_array() { return close(); }
  bool end_map() { return close(); }

  void parse_error(size_t, size_t error_offset) {
    failed_ = true;
    error_offset_ = error_offset;
  }
  void insufficient_bytes(size_t, size_t error_offset) { error_offset_ = error_offset; }

 private:
  using Node = MetadataTree::Node;
  using Type = MetadataTree::Type;
  struct Open {
    uint32_t container;
    uint32_t last_child;  // 0: none yet
  };

  bool add(const Node& node) {
    const uint32_t index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(node);
    if (!open_.empty()) {
      Open& parent = open_.back();
      if (parent.last_child == 0) {
        nodes_[parent.container].first = index;
      } else {
        nodes_[parent.last_child].next = index;
      }
      parent.last_child = index;
    }
    return true;
  }
  bool open(const Node& node) {
    if (open_.size() == kDepth) {
      too_deep_ = true;
      return false;
    }
    add(node);
    open_.push_back({static_cast<uint32_t>(nodes_.size() - 1), 0});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Node>& nodes_;
  std::vector<Open> open_;
  size_t error_offset_ = 0;
  bool failed_ = false;
  bool too_deep_ = false;
};

const char* MetadataTree::type_name(Type type) noexcept {
  switch (type) {
    case Type::kBoolean:
      return "a boolean";
    case Type::kInteger:
      return "an integer";
    case Type::kString:
      return "a string";
    case Type::kArray:
      return "an array";
    case Type::kMap:
      return "a map";
    case Type::kOther:
      break;
  }
  return "something else";
}

Result<MetadataTree> MetadataTree::parse(std::string_view bytes, uint64_t base) {
  MetadataTree tree;
  TreeBuilder builder(tree.nodes_);
  size_t offset = 0;
  const bool done = msgpack::parse(bytes.data(), bytes.size(), offset, builder);
  if (builder.too_deep()) {
    return error(StatusCode::kInvalidArgument,
                 "The code object's metadata is nested more than {} levels deep at offset {}.",
                 TreeBuilder::kDepth, base + offset);
  }
  if (!done || tree.nodes_.empty()) {
    return error(StatusCode::kInvalidArgument,
                 "The code object's metadata, {} bytes of MessagePack from offset {}, {} at offset "
                 "{}. The file is damaged.",
                 bytes.size(), base,
                 builder.parse_failed() ? "holds an impossible byte" : "breaks off",
                 base + builder.error_offset());
  }
  return tree;
}

const MetadataTree::Node* MetadataTree::find(const Node& map, std::string_view key) const noexcept {
  if (map.type != Type::kMap) return nullptr;
  for (const Node* k = child(map); k != nullptr;) {
    const Node* value = sibling(*k);
    if (value == nullptr) return nullptr;
    if (k->type == Type::kString && k->text == key) return value;
    k = sibling(*value);
  }
  return nullptr;
}

}  // namespace halyard::internal
