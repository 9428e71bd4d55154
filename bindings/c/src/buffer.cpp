// The C interface's buffers.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

namespace {

// A caller's function for the end of an import, whose type is not that of hal's. Deletes itself.
struct ImportRelease {
  void (*function)(void* context);
  void* context;
  static void call(void* self) noexcept {
    const std::unique_ptr<ImportRelease> own(static_cast<ImportRelease*>(self));
    own->function(own->context);
  }
};

}  // namespace

halyard_error* halyard_device_advise(halyard_device* device, halyard_range range,
                                     halyard_memory_advice advice) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    BufferRange known;
    HALYARD_RETURN_IF_ERROR(to_range(name, range, &known));
    return device->object->advise(known, static_cast<MemoryAdvice>(advice));
  });
}

halyard_error* halyard_device_commit(halyard_device* device, halyard_range range) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    BufferRange known;
    HALYARD_RETURN_IF_ERROR(to_range(name, range, &known));
    return device->object->commit(known);
  });
}

halyard_error* halyard_device_decommit(halyard_device* device, halyard_range range) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    BufferRange known;
    HALYARD_RETURN_IF_ERROR(to_range(name, range, &known));
    return device->object->decommit(known);
  });
}

halyard_error* halyard_device_allocate(halyard_device* device, uint64_t size,
                                       const halyard_buffer_options* options,
                                       halyard_buffer** buffer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "buffer", buffer));
    halyard_buffer_options known;
    HALYARD_RETURN_IF_ERROR(take(name, options, &known));
    if (known.pool != nullptr) {
      return error(
          StatusCode::kInvalidArgument,
          "{} is given a pool ({}). Pools are for halyard_queue_alloca; leave the pool null.", name,
          static_cast<const void*>(known.pool));
    }
    BufferOptions converted;
    converted.type = to_memory_type(known.type);
    converted.alignment = known.alignment;
    converted.gpu = known.gpu;
    converted.shared = known.shared;
    converted.managed = known.managed;
    converted.reserve = known.reserve;
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
    Dmabuf dmabuf;
    if (converted.kind == ImportOptions::Kind::kDmabuf && known.pointer != nullptr) {
      halyard_dmabuf given;
      HALYARD_RETURN_IF_ERROR(
          take(name, static_cast<const halyard_dmabuf*>(known.pointer), &given));
      dmabuf.fd = given.fd;
      dmabuf.offset = given.offset;
      converted.pointer = &dmabuf;
    }
    std::unique_ptr<ImportRelease> release;
    if (known.release != nullptr) {
      release.reset(new ImportRelease{known.release, known.release_context});
      converted.release = &ImportRelease::call;
      converted.release_context = release.get();
    }
    // Made first: without memory for it there is no import that would have to be released.
    auto handle = std::make_unique<halyard_buffer>(device, Ref<Buffer>());
    HALYARD_ASSIGN_OR_RETURN(handle->object, device->object->import_buffer(converted));
    release.release();  // NOLINT(bugprone-unused-return-value): the call deletes it
    *buffer = handle.release();
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

halyard_error* halyard_device_export_dmabuf(halyard_device* device, halyard_buffer* buffer,
                                            halyard_dmabuf* dmabuf) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    HALYARD_RETURN_IF_ERROR(check_output(name, "dmabuf", dmabuf));
    HALYARD_RETURN_IF_ERROR(check_size<halyard_dmabuf>(name, dmabuf->struct_size));
    HALYARD_ASSIGN_OR_RETURN(const Dmabuf exported, device->object->export_dmabuf(*buffer->object));
    halyard_dmabuf value = {};
    value.fd = exported.fd;
    value.offset = exported.offset;
    return give(name, dmabuf, value);
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
