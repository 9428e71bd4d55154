// Memory that other programs, libraries or processes made, as buffers; and the other way round.
#pragma once

#include "hal/buffer.h"
#include "hal/device.h"

namespace halyard::amdgpu {

class BufferImpl;
class DeviceImpl;
class Hsa;

// What Device::import_buffer does, for each kind.
Result<Ref<Buffer>> import_buffer(DeviceImpl& device, const ImportOptions& options);
Status export_buffer(BufferImpl& buffer, ExportedHandle* handle);
Status export_dmabuf(BufferImpl& buffer, Dmabuf* exported);

}  // namespace halyard::amdgpu
