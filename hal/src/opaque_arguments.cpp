#include "opaque_arguments.h"

#include <algorithm>
#include <exception>
#include <msgpack.hpp>
#include <vector>

#include "hal/error.h"

namespace halyard::internal {
namespace {

msgpack::object* find(msgpack::object& map, std::string_view key) {
  if (map.type != msgpack::type::MAP) return nullptr;
  for (uint32_t i = 0; i < map.via.map.size; ++i) {
    msgpack::object_kv& entry = map.via.map.ptr[i];
    if (entry.key.type != msgpack::type::STR) continue;
    if (std::string_view(entry.key.via.str.ptr, entry.key.via.str.size) == key) return &entry.val;
  }
  return nullptr;
}

std::string_view text(const msgpack::object* object) {
  if (object == nullptr || object->type != msgpack::type::STR) return {};
  return {object->via.str.ptr, object->via.str.size};
}

// What only the runtime knows: where the queue and its apertures are.
bool is_the_runtimes(msgpack::object& argument) {
  const std::string_view kind = text(find(argument, ".value_kind"));
  return kind == "hidden_queue_ptr" || kind == "hidden_private_base" ||
         kind == "hidden_shared_base";
}

uint64_t number(const msgpack::object* object) {
  if (object == nullptr || object->type != msgpack::type::POSITIVE_INTEGER) return 0;
  return object->via.u64;
}

msgpack::object block_of(uint64_t offset, uint64_t size, msgpack::zone& zone) {
  struct Field {
    const char* key;
    msgpack::object value;
  };
  const Field fields[] = {
      {".offset", msgpack::object(offset)},
      {".size", msgpack::object(size)},
      {".value_kind", msgpack::object("by_value", zone)},
  };
  msgpack::object block;
  block.type = msgpack::type::MAP;
  block.via.map.size = std::size(fields);
  block.via.map.ptr = static_cast<msgpack::object_kv*>(
      zone.allocate_align(sizeof(msgpack::object_kv) * std::size(fields)));
  for (size_t i = 0; i < std::size(fields); ++i) {
    block.via.map.ptr[i] = {msgpack::object(fields[i].key, zone), fields[i].value};
  }
  return block;
}

void hide_arguments(msgpack::object& kernel, msgpack::zone& zone) {
  msgpack::object* const arguments = find(kernel, ".args");
  const uint64_t size = number(find(kernel, ".kernarg_segment_size"));
  if (arguments == nullptr || arguments->type != msgpack::type::ARRAY || size == 0) return;
  std::vector<msgpack::object> runtimes;
  uint64_t end = 0;  // of these
  for (uint32_t i = 0; i < arguments->via.array.size; ++i) {
    msgpack::object& argument = arguments->via.array.ptr[i];
    if (!is_the_runtimes(argument)) continue;
    runtimes.push_back(argument);
    end = std::max(end, number(find(argument, ".offset")) + number(find(argument, ".size")));
  }
  // ROCclr takes the segment to end with the argument that begins last (KernelSignature), so that
  // has to be one that does.
  std::vector<msgpack::object> kept;
  if (end == 0 || end >= size) {
    kept.push_back(block_of(0, size, zone));
  } else {
    kept.push_back(block_of(0, end, zone));
    kept.push_back(block_of(end, size - end, zone));
  }
  kept.insert(kept.end(), runtimes.begin(), runtimes.end());
  auto* const array =
      static_cast<msgpack::object*>(zone.allocate_align(sizeof(msgpack::object) * kept.size()));
  std::copy(kept.begin(), kept.end(), array);
  arguments->via.array.size = static_cast<uint32_t>(kept.size());
  arguments->via.array.ptr = array;
}

void deepen_stack(msgpack::object& kernel, uint32_t bytes) {
  const msgpack::object* const dynamic = find(kernel, ".uses_dynamic_stack");
  msgpack::object* const scratch = find(kernel, ".private_segment_fixed_size");
  if (dynamic == nullptr || dynamic->type != msgpack::type::BOOLEAN || !dynamic->via.boolean ||
      scratch == nullptr || number(scratch) >= bytes) {
    return;
  }
  *scratch = msgpack::object(uint64_t{bytes});
}

}  // namespace

Result<std::string> with_opaque_arguments(std::string_view metadata, uint64_t base,
                                          uint32_t dynamic_stack_bytes) {
  try {
    msgpack::object_handle handle = msgpack::unpack(metadata.data(), metadata.size());
    msgpack::object root = handle.get();
    if (msgpack::object* const kernels = find(root, "amdhsa.kernels");
        kernels != nullptr && kernels->type == msgpack::type::ARRAY) {
      for (uint32_t i = 0; i < kernels->via.array.size; ++i) {
        hide_arguments(kernels->via.array.ptr[i], *handle.zone());
        deepen_stack(kernels->via.array.ptr[i], dynamic_stack_bytes);
      }
    }
    msgpack::sbuffer rewritten;
    msgpack::pack(rewritten, root);
    return std::string(rewritten.data(), rewritten.size());
  } catch (const std::exception& problem) {
    return error(StatusCode::kInvalidArgument,
                 "The code object's metadata at offset {} cannot be rewritten: {}.", base,
                 problem.what());
  }
}

}  // namespace halyard::internal
