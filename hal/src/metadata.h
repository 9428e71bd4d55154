// MetadataTree: a MessagePack document as nodes, with every string where it lies in the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::internal {

class MetadataTree {
 public:
  enum class Type : uint8_t { kOther, kBoolean, kInteger, kString, kArray, kMap };
  static const char* type_name(Type type) noexcept;

  struct Node {
    Type type = Type::kOther;
    bool negative = false;       // kInteger: `number` is what it is below zero
    uint64_t number = 0;         // kInteger, kBoolean
    std::string_view text = {};  // kString, inside of the parsed bytes
    uint32_t first = 0;  // kArray, kMap: the first child (of a map: key, value, key, value), or 0
    uint32_t next = 0;   // the next child of the same parent, or 0
  };

  // `base` is the offset of `bytes` in the file, for errors. `bytes` must stay valid while the tree
  // lives. Memory is proportional to the input, regardless of the counts that it claims.
  static Result<MetadataTree> parse(std::string_view bytes, uint64_t base);

  const Node& root() const noexcept { return nodes_[0]; }
  const Node* child(const Node& parent) const noexcept { return at(parent.first); }
  const Node* sibling(const Node& node) const noexcept { return at(node.next); }
  // The value of a key of a map; null if there is none, or `map` is no map.
  const Node* find(const Node& map, std::string_view key) const noexcept;

 private:
  friend class TreeBuilder;
  const Node* at(uint32_t index) const noexcept { return index == 0 ? nullptr : &nodes_[index]; }

  std::vector<Node> nodes_;  // the root is the first, so index 0 also means "none"
};

}  // namespace halyard::internal
