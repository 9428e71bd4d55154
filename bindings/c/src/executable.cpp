// The C interface's executables and functions.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

namespace {

std::vector<halyard_function::ArgumentText> texts_of(Span<const ArgumentInfo> arguments) {
  std::vector<halyard_function::ArgumentText> texts;
  for (const ArgumentInfo& argument : arguments) {
    texts.push_back({text(argument.name), text(argument.type_name), text(argument.value_kind)});
  }
  return texts;
}

Status give_argument(const char* name, const char* what, size_t index,
                     Span<const ArgumentInfo> arguments,
                     const std::vector<halyard_function::ArgumentText>& texts,
                     halyard_argument_info* info) {
  HALYARD_RETURN_IF_ERROR(check_index(name, what, index, arguments.size()));
  const ArgumentInfo& from = arguments[index];
  halyard_argument_info value = {};
  value.kind = static_cast<halyard_argument_kind>(from.kind);
  value.offset = from.offset;
  value.size = from.size;
  value.alignment = from.alignment;
  value.name = texts[index].name.c_str();
  value.type_name = texts[index].type_name.c_str();
  value.value_kind = texts[index].value_kind.c_str();
  return give(name, info, value);
}

halyard_residency to_c(const Residency& from) {
  halyard_residency value = {};
  value.workgroup_size = from.workgroup_size;
  value.groups_per_compute_unit = from.groups_per_compute_unit;
  value.waves_per_simd = from.waves_per_simd;
  value.max_waves_per_simd = from.max_waves_per_simd;
  value.groups = from.groups;
  return value;
}

}  // namespace

halyard_function::halyard_function(halyard_executable* e, const Function& f)
    : Handle(kKind),
      executable(e),
      object(&f),
      name(text(f.info().name)),
      arguments(texts_of(f.info().arguments)),
      hidden(texts_of(f.info().hidden)) {}

halyard_executable::halyard_executable(halyard_device* d, Ref<Executable> o)
    : OfDevice(d, std::move(o)), target(text(object->info().target)) {
  const size_t count = object->function_count();
  for (size_t i = 0; i < count; ++i) {
    functions.push_back(std::make_unique<halyard_function>(this, object->function(i)));
  }
}

halyard_error* halyard_device_load_executable(halyard_device* device, const void* data, size_t size,
                                              halyard_executable** executable) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "executable", executable));
    HALYARD_ASSIGN_OR_RETURN(Ref<Executable> loaded, device->object->load_executable(data, size));
    *executable = new halyard_executable(device, std::move(loaded));
    return {};
  });
}

halyard_error* halyard_device_load_module(halyard_device* device, halyard_module* module,
                                          halyard_executable** executable) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check(name, module));
    HALYARD_RETURN_IF_ERROR(check_output(name, "executable", executable));
    HALYARD_ASSIGN_OR_RETURN(Ref<Executable> loaded,
                             device->object->load_executable(module->object));
    *executable = new halyard_executable(device, std::move(loaded));
    return {};
  });
}

void halyard_executable_retain(halyard_executable* executable) {
  retain(executable);
}

void halyard_executable_release(halyard_executable* executable) {
  release(executable);
}

halyard_error* halyard_executable_get_info(halyard_executable* executable,
                                           halyard_executable_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, executable));
    halyard_executable_info value = {};
    value.target = executable->target.c_str();
    value.code_object_version = executable->object->info().code_object_version;
    return give(name, info, value);
  });
}

halyard_error* halyard_executable_on_gpu(halyard_executable* executable, size_t index,
                                         halyard_executable** part) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, executable));
    HALYARD_RETURN_IF_ERROR(check_output(name, "executable", part));
    HALYARD_RETURN_IF_ERROR(
        check_index(name, "GPU", index, executable->object->device().gpu_count()));
    HALYARD_ASSIGN_OR_RETURN(Executable* const found, executable->object->on_gpu(index));
    *part = new halyard_executable(executable->device.get(), Ref<Executable>::retain(found));
    return {};
  });
}

halyard_device* halyard_executable_device(halyard_executable* executable) {
  return is_a(executable) ? executable->device.get() : nullptr;
}

size_t halyard_executable_function_count(halyard_executable* executable) {
  return is_a(executable) ? executable->functions.size() : 0;
}

halyard_error* halyard_executable_function(halyard_executable* executable, size_t index,
                                           halyard_function** function) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, executable));
    HALYARD_RETURN_IF_ERROR(check_output(name, "function", function));
    HALYARD_RETURN_IF_ERROR(check_index(name, "function", index, executable->functions.size()));
    *function = executable->functions[index].get();
    return {};
  });
}

halyard_error* halyard_executable_find(halyard_executable* executable, const char* function_name,
                                       halyard_function** function) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, executable));
    HALYARD_RETURN_IF_ERROR(check_text(name, "name of a function", function_name));
    HALYARD_RETURN_IF_ERROR(check_output(name, "function", function));
    HALYARD_ASSIGN_OR_RETURN(const Function* const found, executable->object->find(function_name));
    for (const auto& handle : executable->functions) {
      if (handle->object != found) continue;
      *function = handle.get();
      return {};
    }
    return error(StatusCode::kInternal,
                 "The driver finds a function \"{}\" that it does not list among the {} of the "
                 "executable.",
                 function_name, executable->functions.size());
  });
}

halyard_error* halyard_executable_global(halyard_executable* executable, const char* global_name,
                                         halyard_global_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, executable));
    HALYARD_RETURN_IF_ERROR(check_text(name, "name of a global variable", global_name));
    HALYARD_ASSIGN_OR_RETURN(const GlobalInfo global, executable->object->global(global_name));
    halyard_global_info value = {};
    value.device_address = global.device_address;
    value.size = global.size;
    return give(name, info, value);
  });
}

halyard_error* halyard_function_get_info(halyard_function* function, halyard_function_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, function));
    const FunctionInfo& from = function->object->info();
    halyard_function_info value = {};
    value.name = function->name.c_str();
    value.argument_count = static_cast<uint32_t>(from.arguments.size());
    value.hidden_count = static_cast<uint32_t>(from.hidden.size());
    value.kernarg_size = from.kernarg_size;
    value.kernarg_alignment = from.kernarg_alignment;
    value.group_segment_size = from.group_segment_size;
    value.private_segment_size = from.private_segment_size;
    value.sgpr_count = from.sgpr_count;
    value.vgpr_count = from.vgpr_count;
    value.agpr_count = from.agpr_count;
    value.wavefront_size = from.wavefront_size;
    value.max_workgroup_size = from.max_workgroup_size;
    value.required_workgroup_size = to_c(from.required_workgroup_size);
    value.uses_dynamic_stack = from.uses_dynamic_stack;
    return give(name, info, value);
  });
}

halyard_error* halyard_function_residency(halyard_function* function, uint32_t workgroup_size,
                                          uint32_t dynamic_lds_bytes,
                                          halyard_residency* residency) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, function));
    HALYARD_ASSIGN_OR_RETURN(const Residency found,
                             function->object->residency(workgroup_size, dynamic_lds_bytes));
    return give(name, residency, to_c(found));
  });
}

halyard_error* halyard_function_suggest_workgroup_size(halyard_function* function,
                                                       uint32_t dynamic_lds_bytes,
                                                       halyard_residency* residency) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, function));
    HALYARD_ASSIGN_OR_RETURN(const Residency found,
                             function->object->suggest_workgroup_size(dynamic_lds_bytes));
    return give(name, residency, to_c(found));
  });
}

halyard_executable* halyard_function_executable(halyard_function* function) {
  return is_a(function) ? function->executable : nullptr;
}

halyard_error* halyard_function_argument(halyard_function* function, size_t index,
                                         halyard_argument_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, function));
    return give_argument(name, "argument", index, function->object->info().arguments,
                         function->arguments, info);
  });
}

halyard_error* halyard_function_hidden_argument(halyard_function* function, size_t index,
                                                halyard_argument_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, function));
    return give_argument(name, "hidden argument", index, function->object->info().hidden,
                         function->hidden, info);
  });
}
