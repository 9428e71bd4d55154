// The C interface's buffers.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

halyard_error* halyard_device_allocate(halyard_device* device, uint64_t size,
                                       const halyard_buffer_options* options,
                                       halyard_buffer** buffer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "buffer", buffer));
    BufferOptions converted;
    HALYARD_RETURN_IF_ERROR(to_buffer_options(name, options, &converted));
    HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, device->object->allocate(size, converted));
    *buffer = new halyard_buffer(device, std::move(made));
    return {};
  });
}

halyard_error* halyard_device_import_buffer(halyard_device* device,
                                            const halyard_import_options* options,
                                            halyard_buffer** buffer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "buffer", buffer));
    if (options == nullptr) {
      return error(StatusCode::kInvalidArgument, "{} is given no options (null).", name);
    }
    halyard_import_options known;
    HALYARD_RETURN_IF_ERROR(take(name, options, &known));
    ImportOptions converted;
    converted.kind = static_cast<ImportOptions::Kind>(known.kind);
    converted.pointer = known.pointer;
    converted.size = known.size;
    HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made, device->object->import_buffer(converted));
    *buffer = new halyard_buffer(device, std::move(made));
    return {};
  });
}

halyard_error* halyard_device_export_buffer(halyard_device* device, halyard_buffer* buffer,
                                            halyard_exported_handle* handle) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    HALYARD_RETURN_IF_ERROR(check_output(name, "handle", handle));
    HALYARD_RETURN_IF_ERROR(check_size<halyard_exported_handle>(name, handle->struct_size));
    HALYARD_ASSIGN_OR_RETURN(const ExportedHandle exported,
                             device->object->export_buffer(*buffer->object));
    halyard_exported_handle value = {};
    static_assert(sizeof value.ipc == sizeof exported.ipc);
    std::memcpy(value.ipc, exported.ipc, sizeof value.ipc);
    return give(name, handle, value);
  });
}

void halyard_buffer_retain(halyard_buffer* buffer) {
  retain(buffer);
}

void halyard_buffer_release(halyard_buffer* buffer) {
  release(buffer);
}

uint64_t halyard_buffer_size(halyard_buffer* buffer) {
  return is_a(buffer) ? buffer->object->size() : 0;
}

halyard_memory_type halyard_buffer_type(halyard_buffer* buffer) {
  return is_a(buffer) ? static_cast<halyard_memory_type>(buffer->object->type())
                      : HALYARD_MEMORY_DEVICE;
}

uint64_t halyard_buffer_device_address(halyard_buffer* buffer) {
  return is_a(buffer) ? buffer->object->device_address() : 0;
}

halyard_device* halyard_buffer_device(halyard_buffer* buffer) {
  return is_a(buffer) ? buffer->device.get() : nullptr;
}

namespace {

// HALYARD_TO_END is what is left behind `offset`; what does not fit stays, for hal to refuse.
uint64_t resolve(const halyard_buffer& buffer, uint64_t offset, uint64_t length) {
  const uint64_t size = buffer.object->size();
  return length == HALYARD_TO_END && offset <= size ? size - offset : length;
}

}  // namespace

halyard_error* halyard_buffer_map(halyard_buffer* buffer, uint64_t offset, uint64_t length,
                                  halyard_map_access access, void** pointer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    HALYARD_RETURN_IF_ERROR(check_output(name, "pointer", pointer));
    HALYARD_ASSIGN_OR_RETURN(*pointer, buffer->object->map(offset, resolve(*buffer, offset, length),
                                                           static_cast<MapAccess>(access)));
    return {};
  });
}

halyard_error* halyard_buffer_unmap(halyard_buffer* buffer, void* pointer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    return buffer->object->unmap(pointer);
  });
}

halyard_error* halyard_buffer_flush(halyard_buffer* buffer, uint64_t offset, uint64_t length) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    return buffer->object->flush(offset, resolve(*buffer, offset, length));
  });
}

halyard_error* halyard_buffer_invalidate(halyard_buffer* buffer, uint64_t offset, uint64_t length) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    return buffer->object->invalidate(offset, resolve(*buffer, offset, length));
  });
}

halyard_error* halyard_buffer_subspan(halyard_buffer* buffer, uint64_t offset, uint64_t length,
                                      halyard_buffer** view) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    HALYARD_RETURN_IF_ERROR(check_output(name, "view", view));
    HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made,
                             buffer->object->subspan(offset, resolve(*buffer, offset, length)));
    *view = new halyard_buffer(buffer->device.get(), std::move(made));
    return {};
  });
}
