#include "hal/memory_pool.h"

namespace halyard {

Result<PoolStatistics> MemoryPool::statistics() const {
  PoolStatistics statistics;
  HALYARD_RETURN_IF_ERROR(do_statistics(&statistics));
  return statistics;
}

Status MemoryPool::trim(uint64_t keep_bytes) {
  return do_trim(keep_bytes);
}

}  // namespace halyard
