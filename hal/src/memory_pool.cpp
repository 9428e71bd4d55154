#include "hal/memory_pool.h"

#include "driver_call.h"

namespace halyard {

PoolInfo MemoryPool::info() const noexcept {
  PoolInfo info;
  info.type = type();
  info.limit_bytes = contract()->limit_bytes;
  info.keep_bytes = contract()->keep_bytes;
  return info;
}

Result<PoolStatistics> MemoryPool::statistics() const {
  PoolStatistics statistics;
  HALYARD_RETURN_IF_ERROR(internal::call(contract()->functions->statistics, *this, &statistics));
  return statistics;
}

Status MemoryPool::trim(uint64_t keep_bytes) {
  return internal::call(contract()->functions->trim, *this, keep_bytes);
}

}  // namespace halyard
