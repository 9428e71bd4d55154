#include "engine.h"

#include <hsa/amd_hsa_queue.h>

#include "hal/error.h"
#include "plugins/sdk/serial_executable.h"

namespace halyard::skeleton {

Status Engine::open() {
  HALYARD_RETURN_IF_ERROR(
      hsa_.check(hsa_.hsa_signal_create(0, 0, nullptr, &signal_), "Creating a signal"));
  HALYARD_RETURN_IF_ERROR(hsa_.check(
      hsa_.hsa_queue_create(device_.agent(), device_.facts().details.min_queue_packets,
                            HSA_QUEUE_TYPE_MULTI, &on_error, this, UINT32_MAX, UINT32_MAX, &queue_),
      fmt::format("Creating a queue on {}", device_.info().name)));
  return hsa_.check(hsa_.hsa_amd_profiling_set_profiler_enabled(queue_, 1), "Timing kernels");
}

Engine::~Engine() {
  if (Hsa::process_ends()) return;
  if (queue_ != nullptr) hsa_.hsa_queue_destroy(queue_);
  if (signal_.handle != 0) hsa_.hsa_signal_destroy(signal_);
}

// On a thread of the runtime's.
void Engine::on_error(hsa_status_t status, hsa_queue_t*, void* data) {
  const auto& engine = *static_cast<const Engine*>(data);
  engine.core_.lose(engine.hsa_.words(status));
}

HiddenValues Engine::hidden_values() const {
  const auto* const amd_queue = reinterpret_cast<const amd_queue_t*>(queue_);
  return {reinterpret_cast<uint64_t>(queue_), amd_queue->private_segment_aperture_base_hi,
          amd_queue->group_segment_aperture_base_hi};
}

Status Engine::launch(const SerialLaunch& launch) {
  hsa_.hsa_signal_store_screlease(signal_, 1);
  // There is never more than one packet, so that there is room.
  const uint64_t index = hsa_.hsa_queue_add_write_index_scacq_screl(queue_, 1);
  auto* const packet =
      static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address) + index % queue_->size;
  packet->workgroup_size_x = static_cast<uint16_t>(launch.workgroup.x);
  packet->workgroup_size_y = static_cast<uint16_t>(launch.workgroup.y);
  packet->workgroup_size_z = static_cast<uint16_t>(launch.workgroup.z);
  packet->reserved0 = 0;
  packet->grid_size_x = launch.grid.x;
  packet->grid_size_y = launch.grid.y;
  packet->grid_size_z = launch.grid.z;
  packet->private_segment_size = launch.function.private_bytes();
  packet->group_segment_size = launch.lds_bytes;
  packet->kernel_object = launch.function.object();
  packet->kernarg_address = launch.arguments;
  packet->reserved2 = 0;
  packet->completion_signal = signal_;
  // The first word last: with it the packet is the device's.
  const uint32_t word =
      HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |
      grid_dimensions(launch.grid) << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
  __atomic_store_n(reinterpret_cast<uint32_t*>(packet), word, __ATOMIC_RELEASE);
  hsa_.hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<int64_t>(index));
  return {};
}

Status Engine::copy(const SerialCopy& copy) {
  hsa_.hsa_signal_store_screlease(signal_, 1);
  const auto& [to, from, size] = copy;
  return hsa_.check(
      hsa_.hsa_amd_memory_async_copy(to.device, device_.agent_of(to.type), from.device,
                                     device_.agent_of(from.type), size, 0, nullptr, signal_),
      fmt::format("Queueing a copy of {} bytes", size));
}

bool Engine::launch_ticks(uint64_t* begin, uint64_t* end) {
  hsa_amd_profiling_dispatch_time_t time = {};
  const hsa_status_t status =
      hsa_.hsa_amd_profiling_get_dispatch_time(device_.agent(), signal_, &time);
  *begin = time.start;
  *end = time.end;
  return status == HSA_STATUS_SUCCESS;
}

Result<bool> Engine::is_done() {
  const hsa_signal_value_t left = hsa_.hsa_signal_wait_scacquire(
      signal_, HSA_SIGNAL_CONDITION_LT, 1, device_.info().timestamp_hz / kLooksPerSecond,
      HSA_WAIT_STATE_BLOCKED);
  if (left >= 0) return left == 0;
  return error(StatusCode::kInternal, "On {} {} fails.", device_.info().name, core_.describe());
}

}  // namespace halyard::skeleton
