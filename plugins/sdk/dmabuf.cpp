#include "plugins/sdk/dmabuf.h"

#include <sys/stat.h>

#include "hal/error.h"

namespace halyard {

Status too_small_dmabuf(const Dmabuf& dmabuf, uint64_t size, uint64_t available) {
  return error(StatusCode::kOutOfRange,
               "Device::import_buffer is given {} bytes from byte {} of a dma-buf (descriptor {}) "
               "that has {}.",
               size, dmabuf.offset, dmabuf.fd, available);
}

Status check_dmabuf_range(const Dmabuf& dmabuf, uint64_t size) {
  struct stat state = {};
  if (fstat(dmabuf.fd, &state) != 0 || state.st_size <= 0) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_buffer is given a descriptor ({}) that is not a dma-buf's: it has "
                 "no size.",
                 dmabuf.fd);
  }
  const auto available = static_cast<uint64_t>(state.st_size);
  if (dmabuf.offset <= available && size <= available - dmabuf.offset) return {};
  return too_small_dmabuf(dmabuf, size, available);
}

Status no_dmabufs(std::string_view because) {
  return error(StatusCode::kUnimplemented,
               "There are no dma-bufs here: {}. Share memory by Device::export_buffer.", because);
}

}  // namespace halyard
