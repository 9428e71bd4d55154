// The C interface's memory pools.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

namespace {

// In C 0 stands for the default, in hal for none.
uint64_t to_keep_bytes(uint64_t given) {
  if (given == 0) return PoolInfo::kKeepDefault;
  return given == HALYARD_KEEP_NONE ? 0 : given;
}

uint64_t from_keep_bytes(uint64_t keep) {
  if (keep == PoolInfo::kKeepDefault) return 0;
  return keep == 0 ? HALYARD_KEEP_NONE : keep;
}

}  // namespace

halyard_error* halyard_device_create_memory_pool(halyard_device* device,
                                                 const halyard_memory_pool_info* info,
                                                 halyard_memory_pool** pool) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "memory pool", pool));
    halyard_memory_pool_info known;
    HALYARD_RETURN_IF_ERROR(take(name, info, &known));
    PoolInfo converted;
    converted.type = to_memory_type(known.type);
    converted.limit_bytes = known.limit_bytes;
    converted.keep_bytes = to_keep_bytes(known.keep_bytes);
    HALYARD_ASSIGN_OR_RETURN(Ref<MemoryPool> made, device->object->create_pool(converted));
    *pool = new halyard_memory_pool(device, std::move(made));
    return {};
  });
}

void halyard_memory_pool_retain(halyard_memory_pool* pool) {
  retain(pool);
}

void halyard_memory_pool_release(halyard_memory_pool* pool) {
  release(pool);
}

halyard_device* halyard_memory_pool_device(halyard_memory_pool* pool) {
  return is_a(pool) ? pool->device.get() : nullptr;
}

halyard_error* halyard_memory_pool_get_info(halyard_memory_pool* pool,
                                            halyard_memory_pool_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, pool));
    const PoolInfo& from = pool->object->info();
    halyard_memory_pool_info value = {};
    value.type = static_cast<halyard_memory_type>(from.type);
    value.limit_bytes = from.limit_bytes;
    value.keep_bytes = from_keep_bytes(from.keep_bytes);
    return give(name, info, value);
  });
}

halyard_error* halyard_memory_pool_statistics(halyard_memory_pool* pool,
                                              halyard_pool_statistics* statistics) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, pool));
    HALYARD_ASSIGN_OR_RETURN(const PoolStatistics from, pool->object->statistics());
    return give(name, statistics, to_c(from));
  });
}

halyard_error* halyard_memory_pool_trim(halyard_memory_pool* pool, uint64_t keep_bytes) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, pool));
    return pool->object->trim(keep_bytes);
  });
}
