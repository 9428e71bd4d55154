#include "hal/code_object.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "code_object_header.h"
#include "damaged.h"
#include "elf_image.h"
#include "function_name.h"
#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"
#include "metadata.h"

namespace halyard {

struct CodeObject::Contents {
  internal::CodeObjectHeader header;
  std::string metadata;  // the note, copied; the strings below lie in it
  std::string_view metadata_target;
  std::deque<std::string> names;     // of globals
  std::deque<std::string> problems;  // of kernels
  // The arguments of each kernel: a deque, since FunctionInfo points into its elements.
  std::deque<std::vector<ArgumentInfo>> arguments;
  std::vector<KernelInfo> kernels;
  std::vector<GlobalSymbol> globals;
};

namespace {

using internal::damaged;
using internal::ElfImage;
using internal::ElfNote;
using internal::ElfSymbol;
using internal::MetadataTree;
using Node = internal::MetadataTree::Node;

// LLVM AMDGPUUsage, "Note Records" and "Code Object Metadata".

// Runtimes set aside a segment for each function, so a size that no kernel has is refused.
constexpr uint32_t kMaxKernargBytes = 1 << 20;

struct KindName {
  std::string_view name;
  ArgumentKind kind;
};
constexpr KindName kKinds[] = {
    {"by_value", ArgumentKind::kValue},
    {"global_buffer", ArgumentKind::kBuffer},
    {"dynamic_shared_pointer", ArgumentKind::kDynamicLds},
    {"hidden_global_offset_x", ArgumentKind::kHiddenGlobalOffsetX},
    {"hidden_global_offset_y", ArgumentKind::kHiddenGlobalOffsetY},
    {"hidden_global_offset_z", ArgumentKind::kHiddenGlobalOffsetZ},
    {"hidden_none", ArgumentKind::kHiddenNone},
    {"hidden_block_count_x", ArgumentKind::kHiddenBlockCountX},
    {"hidden_block_count_y", ArgumentKind::kHiddenBlockCountY},
    {"hidden_block_count_z", ArgumentKind::kHiddenBlockCountZ},
    {"hidden_group_size_x", ArgumentKind::kHiddenGroupSizeX},
    {"hidden_group_size_y", ArgumentKind::kHiddenGroupSizeY},
    {"hidden_group_size_z", ArgumentKind::kHiddenGroupSizeZ},
    {"hidden_remainder_x", ArgumentKind::kHiddenRemainderX},
    {"hidden_remainder_y", ArgumentKind::kHiddenRemainderY},
    {"hidden_remainder_z", ArgumentKind::kHiddenRemainderZ},
    {"hidden_grid_dims", ArgumentKind::kHiddenGridDims},
    {"hidden_printf_buffer", ArgumentKind::kHiddenPrintfBuffer},
    {"hidden_hostcall_buffer", ArgumentKind::kHiddenHostcallBuffer},
    {"hidden_heap_v1", ArgumentKind::kHiddenHeap},
    {"hidden_default_queue", ArgumentKind::kHiddenDefaultQueue},
    {"hidden_completion_action", ArgumentKind::kHiddenCompletionAction},
    {"hidden_multigrid_sync_arg", ArgumentKind::kHiddenMultigridSync},
    {"hidden_dynamic_lds_size", ArgumentKind::kHiddenDynamicLdsSize},
    {"hidden_private_base", ArgumentKind::kHiddenPrivateBase},
    {"hidden_shared_base", ArgumentKind::kHiddenSharedBase},
    {"hidden_queue_ptr", ArgumentKind::kHiddenQueuePtr},
};

ArgumentKind kind_of(std::string_view name) {
  for (const KindName& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  return name.starts_with("hidden_") ? ArgumentKind::kHiddenUnknown : ArgumentKind::kUnsupported;
}

// Typed look-ups in the metadata, with errors that say which entry of which map is wrong.
class Fields {
 public:
  Fields(const MetadataTree& tree, const Node& map, std::string where)
      : tree_(tree), map_(map), where_(std::move(where)) {}

  const Node* find(std::string_view key) const { return tree_.find(map_, key); }
  const std::string& where() const { return where_; }

  Status string(std::string_view key, bool required, std::string_view* value) const {
    const Node* node = find(key);
    if (node == nullptr) return absent(key, required);
    if (node->type != MetadataTree::Type::kString) return wrong_type(key, *node, "a string");
    *value = node->text;
    return {};
  }
  Status string(std::string_view key, bool required, StringView* value) const {
    std::string_view text = value->view();
    HALYARD_RETURN_IF_ERROR(string(key, required, &text));
    *value = text;
    return {};
  }
  Status number(std::string_view key, bool required, uint32_t* value) const {
    const Node* node = find(key);
    if (node == nullptr) return absent(key, required);
    return to_number(key, *node, value);
  }
  Status boolean(std::string_view key, bool* value) const {
    const Node* node = find(key);
    if (node == nullptr) return {};
    if (node->type != MetadataTree::Type::kBoolean) return wrong_type(key, *node, "a boolean");
    *value = node->number != 0;
    return {};
  }
  // Three integers.
  Status dimensions(std::string_view key, Dim3* value) const {
    const Node* node = find(key);
    if (node == nullptr) return {};
    if (node->type != MetadataTree::Type::kArray) return wrong_type(key, *node, "an array");
    uint32_t numbers[3] = {};
    size_t count = 0;
    for (const Node* n = tree_.child(*node); n != nullptr; n = tree_.sibling(*n), ++count) {
      if (count < 3) HALYARD_RETURN_IF_ERROR(to_number(key, *n, &numbers[count]));
    }
    if (count != 3) return damaged("has {} with {} numbers in {}; it has 3.", where_, count, key);
    *value = {numbers[0], numbers[1], numbers[2]};
    return {};
  }
  Status wrong_type(std::string_view key, const Node& node, const char* wanted) const {
    return damaged("has {} whose {} is {} instead of {}.", where_, key,
                   MetadataTree::type_name(node.type), wanted);
  }

 private:
  Status absent(std::string_view key, bool required) const {
    if (!required) return {};
    return damaged("has {} without {}, which it needs.", where_, key);
  }
  Status to_number(std::string_view key, const Node& node, uint32_t* value) const {
    if (node.type != MetadataTree::Type::kInteger) return wrong_type(key, node, "an integer");
    if (node.negative || node.number > UINT32_MAX) {
      return damaged("has {} whose {} ({}{}) is not between 0 and {}.", where_, key,
                     node.negative ? "-" : "", node.number, UINT32_MAX);
    }
    *value = static_cast<uint32_t>(node.number);
    return {};
  }

  const MetadataTree& tree_;
  const Node& map_;
  std::string where_;
};

Status read_argument(const Fields& fields, uint32_t kernarg_size, ArgumentInfo* argument) {
  HALYARD_RETURN_IF_ERROR(fields.string(".value_kind", true, &argument->value_kind));
  HALYARD_RETURN_IF_ERROR(fields.number(".offset", true, &argument->offset));
  HALYARD_RETURN_IF_ERROR(fields.number(".size", true, &argument->size));
  HALYARD_RETURN_IF_ERROR(fields.string(".name", false, &argument->name));
  HALYARD_RETURN_IF_ERROR(fields.string(".type_name", false, &argument->type_name));
  argument->kind = kind_of(argument->value_kind);
  if (argument->offset > kernarg_size || argument->size > kernarg_size - argument->offset) {
    return damaged("has {} ({} bytes at offset {}) outside of its kernarg segment ({} bytes).",
                   fields.where(), argument->size, argument->offset, kernarg_size);
  }
  if (argument->kind == ArgumentKind::kDynamicLds) {
    argument->alignment = 1;
    HALYARD_RETURN_IF_ERROR(fields.number(".pointee_align", false, &argument->alignment));
    const uint32_t alignment = argument->alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > 64 * 1024) {
      return damaged("has {} whose .pointee_align ({}) is not a power of two of at most 65536.",
                     fields.where(), alignment);
    }
  }
  return {};
}

Status read_arguments(const MetadataTree& tree, const Fields& kernel, uint32_t kernarg_size,
                      std::vector<ArgumentInfo>* explicit_ones, std::vector<ArgumentInfo>* hidden) {
  const Node* list = kernel.find(".args");
  if (list == nullptr) return {};
  if (list->type != MetadataTree::Type::kArray)
    return kernel.wrong_type(".args", *list, "an array");
  size_t index = 0;
  for (const Node* node = tree.child(*list); node != nullptr; node = tree.sibling(*node), ++index) {
    const Fields fields(tree, *node, fmt::format("argument {} of {}", index, kernel.where()));
    ArgumentInfo argument;
    HALYARD_RETURN_IF_ERROR(read_argument(fields, kernarg_size, &argument));
    (is_hidden(argument.kind) ? hidden : explicit_ones)->push_back(argument);
  }
  return {};
}

// Compilers that could not prove that a kernel makes no host call, or does not allocate, list the
// argument for it. Both go through functions of ROCm's device library. Where the symbol table shows
// that the file has none, nothing allocates: those functions are never inlined.
struct LibraryUse {
  bool hostcall = true;
  bool heap = true;
};

LibraryUse library_use(const ElfImage& image) {
  if (image.static_symbols().empty()) return {};
  LibraryUse use{.hostcall = false, .heap = false};
  for (const ElfSymbol& symbol : image.static_symbols()) {
    use.hostcall |= symbol.name.starts_with("__ockl_hostcall_");
    use.heap |= symbol.name.starts_with("__ockl_dm_");
  }
  return use;
}

// Those for host calls may be, by a compiler that optimises. But it knows that a HIP kernel
// launches no others, and lists no argument for that, unless the kernel calls what it does not see.
bool is_unoptimised(const FunctionInfo& function, const std::vector<ArgumentInfo>& hidden) {
  return !function.uses_dynamic_stack &&
         std::any_of(hidden.begin(), hidden.end(), [](const ArgumentInfo& argument) {
           return argument.kind == ArgumentKind::kHiddenDefaultQueue;
         });
}

void drop_unused(const LibraryUse& use, const FunctionInfo& function,
                 std::vector<ArgumentInfo>* hidden) {
  const bool calls = use.hostcall || !is_unoptimised(function, *hidden);
  for (ArgumentInfo& argument : *hidden) {
    const bool unused = (argument.kind == ArgumentKind::kHiddenHostcallBuffer && !calls) ||
                        (argument.kind == ArgumentKind::kHiddenHeap && !use.heap);
    if (unused) argument.kind = ArgumentKind::kHiddenNone;
  }
}

// Why the kernel has no descriptor, or none that loaders find.
std::string no_descriptor(const ElfImage& image, const KernelInfo& kernel) {
  const auto& local = image.static_symbols();
  const bool hidden = std::any_of(local.begin(), local.end(), [&](const ElfSymbol& s) {
    return s.name == kernel.symbol.view();
  });
  const std::string symbol = short_name(kernel.symbol);
  if (!hidden) {
    return fmt::format(
        "The code object has no symbol \"{}\", which is its descriptor: link the file that "
        "defines the kernel too.",
        symbol);
  }
  return fmt::format(
      "The code object has no exported symbol \"{}\", which is its descriptor. The symbol is "
      "local, and loaders skip it: compile with -fvisibility=protected.",
      symbol);
}

Status read_kind(const Fields& fields, KernelKind* kind) {
  std::string_view text = "normal";
  HALYARD_RETURN_IF_ERROR(fields.string(".kind", false, &text));
  constexpr std::pair<std::string_view, KernelKind> kNames[] = {
      {"normal", KernelKind::kNormal}, {"init", KernelKind::kInit}, {"fini", KernelKind::kFini}};
  for (const auto& [name, known] : kNames) {
    if (name != text) continue;
    *kind = known;
    return {};
  }
  return damaged("has {} whose .kind (\"{}\") is not \"normal\", \"init\" or \"fini\".",
                 fields.where(), printable(text));
}

Status read_kernel(const MetadataTree& tree, const Fields& fields, const ElfImage& image,
                   const LibraryUse& use, CodeObject::Contents* contents, KernelInfo* kernel) {
  FunctionInfo& function = kernel->function;
  const struct {
    std::string_view key;
    bool required;
    uint32_t* value;
  } numbers[] = {
      {".kernarg_segment_size", true, &function.kernarg_size},
      {".kernarg_segment_align", true, &function.kernarg_alignment},
      {".group_segment_fixed_size", true, &function.group_segment_size},
      {".private_segment_fixed_size", true, &function.private_segment_size},
      {".sgpr_count", false, &function.sgpr_count},
      {".vgpr_count", false, &function.vgpr_count},
      {".agpr_count", false, &function.agpr_count},
      {".sgpr_spill_count", false, &kernel->sgpr_spill_count},
      {".vgpr_spill_count", false, &kernel->vgpr_spill_count},
      {".wavefront_size", false, &function.wavefront_size},
      {".max_flat_workgroup_size", false, &function.max_workgroup_size},
  };
  for (const auto& number : numbers) {
    HALYARD_RETURN_IF_ERROR(fields.number(number.key, number.required, number.value));
  }
  const uint32_t alignment = function.kernarg_alignment;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > 4096) {
    return damaged(
        "has {} whose .kernarg_segment_align ({}) is not a power of two of at most 4096.",
        fields.where(), alignment);
  }
  if (function.wavefront_size != 32 && function.wavefront_size != 64) {
    return damaged("has {} whose .wavefront_size ({}) is neither 32 nor 64.", fields.where(),
                   function.wavefront_size);
  }
  HALYARD_RETURN_IF_ERROR(read_kind(fields, &kernel->kind));
  HALYARD_RETURN_IF_ERROR(fields.boolean(".uses_dynamic_stack", &function.uses_dynamic_stack));
  HALYARD_RETURN_IF_ERROR(
      fields.dimensions(".reqd_workgroup_size", &function.required_workgroup_size));
  uint32_t uniform = 0;
  HALYARD_RETURN_IF_ERROR(fields.number(".uniform_work_group_size", false, &uniform));
  function.uniform_workgroups = uniform != 0;

  std::vector<ArgumentInfo>& arguments = contents->arguments.emplace_back();
  std::vector<ArgumentInfo>& hidden = contents->arguments.emplace_back();
  HALYARD_RETURN_IF_ERROR(read_arguments(tree, fields, function.kernarg_size, &arguments, &hidden));
  drop_unused(use, function, &hidden);
  function.arguments = {arguments.data(), arguments.size()};
  function.hidden = {hidden.data(), hidden.size()};

  const ElfSymbol* symbol = image.find(kernel->symbol.view());
  if (symbol == nullptr) {
    function.problem = contents->problems.emplace_back(no_descriptor(image, *kernel));
    return {};
  }
  HALYARD_ASSIGN_OR_RETURN(kernel->descriptor_offset,
                           image.file_offset(*symbol, internal::kDescriptorBytes));
  kernel->descriptor_address = symbol->symbol.st_value;
  kernel->has_descriptor = true;
  if (function.kernarg_size > kMaxKernargBytes) {
    function.problem = contents->problems.emplace_back(fmt::format(
        "It takes {} bytes of arguments (.kernarg_segment_size); a kernel takes {} at most. Pass "
        "the address of a buffer instead.",
        function.kernarg_size, kMaxKernargBytes));
  }
  return {};
}

Status read_kernels(const MetadataTree& tree, const ElfImage& image,
                    CodeObject::Contents* contents) {
  const Node* list = tree.find(tree.root(), "amdhsa.kernels");
  if (list == nullptr) return {};
  if (list->type != MetadataTree::Type::kArray) {
    return damaged("has metadata whose amdhsa.kernels is {} instead of an array.",
                   MetadataTree::type_name(list->type));
  }
  const LibraryUse use = library_use(image);
  size_t index = 0;
  for (const Node* node = tree.child(*list); node != nullptr; node = tree.sibling(*node), ++index) {
    KernelInfo kernel;
    const Fields unnamed(tree, *node, fmt::format("kernel {}", index));
    HALYARD_RETURN_IF_ERROR(unnamed.string(".name", true, &kernel.function.name));
    HALYARD_RETURN_IF_ERROR(unnamed.string(".symbol", true, &kernel.symbol));
    const Fields fields(tree, *node,
                        fmt::format("kernel \"{}\"", short_name(kernel.function.name)));
    HALYARD_RETURN_IF_ERROR(read_kernel(tree, fields, image, use, contents, &kernel));
    contents->kernels.push_back(kernel);
  }
  return {};
}

void read_globals(const ElfImage& image, CodeObject::Contents* contents) {
  for (const ElfSymbol& symbol : image.symbols()) {
    const bool variable = ELF64_ST_TYPE(symbol.symbol.st_info) == STT_OBJECT &&
                          ELF64_ST_BIND(symbol.symbol.st_info) != STB_LOCAL &&
                          symbol.symbol.st_shndx != SHN_UNDEF && !symbol.name.ends_with(".kd");
    if (!variable) continue;
    contents->names.emplace_back(symbol.name);
    contents->globals.push_back({.name = contents->names.back(),
                                 .address = symbol.symbol.st_value,
                                 .size = symbol.symbol.st_size});
  }
}

}  // namespace

Result<CodeObject> CodeObject::read(const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(const ElfImage image, ElfImage::open(data, size));
  auto contents = std::make_unique<Contents>();
  HALYARD_ASSIGN_OR_RETURN(const uint32_t version, internal::code_object_version(image.header()));

  const ElfNote* note = nullptr;
  for (const ElfNote& candidate : image.notes()) {
    if (candidate.type == internal::kMetadataNote && candidate.name == "AMDGPU") note = &candidate;
  }
  if (note == nullptr) {
    return damaged(
        "has no metadata note (AMDGPU, type {}) among its {}, so its kernels are not "
        "known. Do not strip it of .note.",
        internal::kMetadataNote, image.notes().size());
  }
  contents->metadata = std::string(note->description);
  const uint64_t base = note->description.data() - reinterpret_cast<const char*>(data);
  HALYARD_ASSIGN_OR_RETURN(const MetadataTree tree, MetadataTree::parse(contents->metadata, base));
  if (tree.root().type != MetadataTree::Type::kMap) {
    return damaged("has metadata at offset {} that is {} instead of a map.", base,
                   MetadataTree::type_name(tree.root().type));
  }
  const Fields top(tree, tree.root(), "metadata");
  HALYARD_RETURN_IF_ERROR(top.string("amdhsa.target", false, &contents->metadata_target));
  HALYARD_ASSIGN_OR_RETURN(
      contents->header,
      internal::code_object_header(image.header(), version, contents->metadata_target));
  HALYARD_RETURN_IF_ERROR(read_kernels(tree, image, contents.get()));
  read_globals(image, contents.get());
  return CodeObject(std::move(contents));
}

CodeObject::CodeObject(std::unique_ptr<const Contents> contents) noexcept
    : contents_(std::move(contents)) {}
CodeObject::CodeObject(CodeObject&&) noexcept = default;
CodeObject& CodeObject::operator=(CodeObject&&) noexcept = default;
CodeObject::~CodeObject() = default;

uint32_t CodeObject::version() const noexcept {
  return contents_->header.version;
}
const TargetId& CodeObject::target() const noexcept {
  return contents_->header.target;
}
uint32_t CodeObject::generic_version() const noexcept {
  return contents_->header.generic_version;
}
uint32_t CodeObject::elf_flags() const noexcept {
  return contents_->header.elf_flags;
}
std::string_view CodeObject::metadata_target() const noexcept {
  return contents_->metadata_target;
}
const std::vector<KernelInfo>& CodeObject::kernels() const noexcept {
  return contents_->kernels;
}
const std::vector<GlobalSymbol>& CodeObject::globals() const noexcept {
  return contents_->globals;
}

Result<const KernelInfo*> CodeObject::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const KernelInfo& kernel : contents_->kernels) names.push_back(kernel.function.name.view());
  HALYARD_ASSIGN_OR_RETURN(const size_t index,
                           internal::find_function_name(name, names, "kernel", "code object"));
  return &contents_->kernels[index];
}

Result<VariantFacts> read_variant_facts(const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(const internal::CodeObjectHeader header,
                           internal::read_code_object_header(data, size));
  return VariantFacts{header.target, header.version, header.generic_version, {}};
}

Status check_target(const CodeObject& object, const TargetId& device) {
  const std::string why = why_not_runs_on(object.target(), device, object.generic_version());
  if (why.empty()) return {};
  const ProcessorInfo* processor = find_processor(device.processor);
  const std::string generic = processor != nullptr && processor->generic != nullptr
                                  ? fmt::format(" or -mcpu={}", processor->generic)
                                  : std::string();
  return error(
      StatusCode::kFailedPrecondition,
      "The code object is built for {}, and the device is {}: {}. Build it with -mcpu={}{}.",
      object.target_name(), to_string(device), why, device.processor, generic);
}

}  // namespace halyard
