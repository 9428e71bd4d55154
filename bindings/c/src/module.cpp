// The C interface's modules.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

namespace {

Status to_module_options(const char* name, const halyard_module_options* given,
                         ModuleOptions* options) {
  halyard_module_options known;
  HALYARD_RETURN_IF_ERROR(take(name, given, &known));
  if (known.max_decompressed_bytes != 0) {
    options->max_decompressed_bytes = known.max_decompressed_bytes;
  }
  if (known.always_decompressed_bytes != 0) {
    options->always_decompressed_bytes = known.always_decompressed_bytes;
  }
  if (known.max_decompression_ratio != 0) {
    options->max_decompression_ratio = known.max_decompression_ratio;
  }
  return {};
}

}  // namespace

halyard_module::halyard_module(Module m) : Handle(kKind), object(std::move(m)) {
  for (const ModuleVariant& variant : object.variants()) {
    targets.push_back(to_string(variant.facts.target));
  }
}

halyard_error* halyard_module_read(const void* data, size_t size,
                                   const halyard_module_options* options, halyard_module** module) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check_list(name, "bytes of a module", data, size));
    HALYARD_RETURN_IF_ERROR(check_output(name, "module", module));
    ModuleOptions converted;
    HALYARD_RETURN_IF_ERROR(to_module_options(name, options, &converted));
    HALYARD_ASSIGN_OR_RETURN(Module read, Module::read(data, size, converted));
    *module = new halyard_module(std::move(read));
    return {};
  });
}

halyard_error* halyard_module_open(const char* path, const halyard_module_options* options,
                                   halyard_module** module) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check_text(name, "path", path));
    HALYARD_RETURN_IF_ERROR(check_output(name, "module", module));
    ModuleOptions converted;
    HALYARD_RETURN_IF_ERROR(to_module_options(name, options, &converted));
    HALYARD_ASSIGN_OR_RETURN(Module opened, Module::open(path, converted));
    *module = new halyard_module(std::move(opened));
    return {};
  });
}

void halyard_module_retain(halyard_module* module) {
  retain(module);
}

void halyard_module_release(halyard_module* module) {
  release(module);
}

halyard_module_format halyard_module_get_format(halyard_module* module) {
  return is_a(module) ? static_cast<halyard_module_format>(module->object.format())
                      : HALYARD_FORMAT_CODE_OBJECT;
}

size_t halyard_module_variant_count(halyard_module* module) {
  return is_a(module) ? module->object.variants().size() : 0;
}

halyard_error* halyard_module_get_variant(halyard_module* module, size_t index,
                                          halyard_module_variant* variant) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, module));
    HALYARD_RETURN_IF_ERROR(check_index(name, "variant", index, module->object.variants().size()));
    const ModuleVariant& from = module->object.variants()[index];
    halyard_module_variant value = {};
    value.origin = from.origin.c_str();
    value.entry = from.entry.c_str();
    value.target = module->targets[index].c_str();
    value.problem = from.facts.problem.c_str();
    value.code_object_version = from.facts.version;
    value.generic_version = from.facts.generic_version;
    value.offset = from.offset;
    value.data = from.bytes.data();
    value.size = from.bytes.size();
    return give(name, variant, value);
  });
}

size_t halyard_module_ignored_count(halyard_module* module) {
  return is_a(module) ? module->object.ignored().size() : 0;
}

halyard_error* halyard_module_ignored(halyard_module* module, size_t index, const char** file,
                                      const char** reason) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, module));
    HALYARD_RETURN_IF_ERROR(check_output(name, "name", file));
    HALYARD_RETURN_IF_ERROR(check_output(name, "reason", reason));
    HALYARD_RETURN_IF_ERROR(
        check_index(name, "ignored file", index, module->object.ignored().size()));
    *file = module->object.ignored()[index].first.c_str();
    *reason = module->object.ignored()[index].second.c_str();
    return {};
  });
}

halyard_error* halyard_module_choose(halyard_module* module, const char* target, size_t* indices,
                                     size_t capacity, size_t* count) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, module));
    HALYARD_RETURN_IF_ERROR(check_text(name, "target", target));
    HALYARD_RETURN_IF_ERROR(check_list(name, "indices", indices, capacity));
    HALYARD_RETURN_IF_ERROR(check_output(name, "count", count));
    HALYARD_ASSIGN_OR_RETURN(TargetId device, parse_target_id(target));
    HALYARD_ASSIGN_OR_RETURN(const std::vector<size_t> chosen,
                             module->object.choose({.device = std::move(device)}));
    *count = chosen.size();
    std::copy_n(chosen.begin(), std::min(capacity, chosen.size()), indices);
    return {};
  });
}
