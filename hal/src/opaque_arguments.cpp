#include "opaque_arguments.h"

#include <algorithm>
#include <msgpack.hpp>
#include <vector>

#include "damaged.h"
#include "hal/text.h"
#include "metadata.h"

namespace halyard::internal {
namespace {

using Node = MetadataTree::Node;
using Packer = msgpack::packer<msgpack::sbuffer>;

void pack_text(Packer& packer, std::string_view text) {
  packer.pack_str(static_cast<uint32_t>(text.size()));
  packer.pack_str_body(text.data(), static_cast<uint32_t>(text.size()));
}

// A map whose number of entries is known when it ends: they come from a buffer of their own.
class Map {
 public:
  void text(std::string_view key, std::string_view value) { pack_text(entry(key), value); }
  void number(std::string_view key, uint64_t value) { entry(key).pack(value); }
  // The caller packs the value.
  Packer& entry(std::string_view key) {
    ++count_;
    pack_text(packer_, key);
    return packer_;
  }
  void write(Packer& to) const {
    to.pack_map(count_);
    append(to);
  }

 private:
  void append(Packer& to) const {
    // A packer has no call for bytes that are packed already but this one, which only copies.
    to.pack_str_body(buffer_.data(), static_cast<uint32_t>(buffer_.size()));
  }

  msgpack::sbuffer buffer_;
  Packer packer_{buffer_};
  uint32_t count_ = 0;
};

void pack_argument(Packer& packer, uint64_t offset, uint64_t size, std::string_view kind) {
  Map argument;
  argument.number(".offset", offset);
  argument.number(".size", size);
  argument.text(".value_kind", kind);
  argument.write(packer);
}

// What only the runtime knows: where the queue and its apertures are.
bool is_the_runtimes(const ArgumentInfo& argument) {
  return argument.kind == ArgumentKind::kHiddenQueuePtr ||
         argument.kind == ArgumentKind::kHiddenPrivateBase ||
         argument.kind == ArgumentKind::kHiddenSharedBase;
}

// A runtime fills in this many bytes, regardless of the metadata.
uint32_t bytes_of(ArgumentKind kind) {
  return kind == ArgumentKind::kHiddenQueuePtr ? sizeof(uint64_t) : sizeof(uint32_t);
}

Status pack_arguments(const FunctionInfo& function, Map* kernel) {
  const uint64_t size = function.kernarg_size;
  if (size == 0) return {};
  std::vector<const ArgumentInfo*> runtimes;
  uint64_t end = 0;  // of these
  for (const ArgumentInfo& argument : function.hidden) {
    if (!is_the_runtimes(argument)) continue;
    if (argument.size != bytes_of(argument.kind)) {
      return damaged("has kernel \"{}\" whose argument {} has {} bytes; it has {}.",
                     short_name(function.name), argument.value_kind, argument.size,
                     bytes_of(argument.kind));
    }
    runtimes.push_back(&argument);
    end = std::max(end, uint64_t{argument.offset} + argument.size);
  }
  // ROCclr takes the segment to end with the argument that begins last (KernelSignature), so that
  // has to be one that does.
  const bool split = end != 0 && end < size;
  Packer& packer = kernel->entry(".args");
  packer.pack_array(static_cast<uint32_t>(runtimes.size()) + (split ? 2 : 1));
  pack_argument(packer, 0, split ? end : size, "by_value");
  if (split) pack_argument(packer, end, size - end, "by_value");
  for (const ArgumentInfo* argument : runtimes) {
    pack_argument(packer, argument->offset, argument->size, argument->value_kind.view());
  }
  return {};
}

// Without `.kind`: the runtime would run an init kernel before the driver can give it arguments.
Status pack_kernel(const KernelInfo& info, uint32_t dynamic_stack_bytes, Packer* packer) {
  const FunctionInfo& function = info.function;
  uint32_t scratch = function.private_segment_size;
  if (function.uses_dynamic_stack) scratch = std::max(scratch, dynamic_stack_bytes);
  Map kernel;
  HALYARD_RETURN_IF_ERROR(pack_arguments(function, &kernel));
  kernel.number(".group_segment_fixed_size", function.group_segment_size);
  kernel.number(".kernarg_segment_align", function.kernarg_alignment);
  kernel.number(".kernarg_segment_size", function.kernarg_size);
  kernel.number(".max_flat_workgroup_size", function.max_workgroup_size);
  kernel.text(".name", function.name.view());
  kernel.number(".private_segment_fixed_size", scratch);
  kernel.number(".sgpr_count", function.sgpr_count);
  kernel.number(".sgpr_spill_count", info.sgpr_spill_count);
  kernel.text(".symbol", info.symbol.view());
  kernel.number(".vgpr_count", function.vgpr_count);
  kernel.number(".vgpr_spill_count", info.vgpr_spill_count);
  kernel.number(".wavefront_size", function.wavefront_size);
  const Dim3& required = function.required_workgroup_size;
  if (required.x != 0) {
    Packer& sizes = kernel.entry(".reqd_workgroup_size");
    sizes.pack_array(3);
    for (const uint32_t size : {required.x, required.y, required.z}) sizes.pack(size);
  }
  kernel.write(*packer);
  return {};
}

// Of the metadata; 1.0 to 1.2 so far.
Status pack_version(const MetadataTree& tree, uint64_t base, Map* root) {
  const Node* const version = tree.find(tree.root(), "amdhsa.version");
  const Node* const major = version == nullptr ? nullptr : tree.child(*version);
  const Node* const minor = major == nullptr ? nullptr : tree.sibling(*major);
  const auto is = [](const Node* node, uint64_t low, uint64_t high) {
    return node != nullptr && node->type == MetadataTree::Type::kInteger && !node->negative &&
           node->number >= low && node->number <= high;
  };
  if (!is(major, 1, 1) || !is(minor, 0, 9) || tree.sibling(*minor) != nullptr) {
    return damaged(
        "has metadata at offset {} whose amdhsa.version is not 1 and a number from 0 to "
        "9.",
        base);
  }
  Packer& packer = root->entry("amdhsa.version");
  packer.pack_array(2);
  packer.pack(major->number);
  packer.pack(minor->number);
  return {};
}

}  // namespace

Result<std::string> with_opaque_arguments(const CodeObject& object, std::string_view metadata,
                                          uint64_t base, uint32_t dynamic_stack_bytes) {
  HALYARD_ASSIGN_OR_RETURN(const MetadataTree tree, MetadataTree::parse(metadata, base));
  Map root;
  Packer& kernels = root.entry("amdhsa.kernels");
  const auto is_usable = [](const KernelInfo& kernel) { return kernel.function.problem.empty(); };
  const auto& all = object.kernels();
  kernels.pack_array(static_cast<uint32_t>(std::count_if(all.begin(), all.end(), is_usable)));
  for (const KernelInfo& kernel : all) {
    if (!is_usable(kernel)) continue;
    HALYARD_RETURN_IF_ERROR(pack_kernel(kernel, dynamic_stack_bytes, &kernels));
  }
  if (!object.metadata_target().empty()) root.text("amdhsa.target", object.metadata_target());
  HALYARD_RETURN_IF_ERROR(pack_version(tree, base, &root));
  msgpack::sbuffer rewritten;
  Packer packer(rewritten);
  root.write(packer);
  return std::string(rewritten.data(), rewritten.size());
}

}  // namespace halyard::internal
