#include "drivers/hip/device.h"

#include "drivers/hip/agents.h"
#include "drivers/hip/buffer.h"
#include "drivers/hip/command_buffer.h"
#include "drivers/hip/executable.h"
#include "drivers/hip/faults.h"
#include "drivers/hip/last_words.h"
#include "drivers/hip/managed.h"
#include "drivers/hip/peers.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/queue.h"
#include "drivers/hip/semaphore.h"
#include "hal/error.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/managed.h"
#include "plugins/sdk/remains.h"

namespace halyard::hip {

DeviceImpl::DeviceImpl(Driver& driver, Hip& hip, GpuFacts facts, const DeviceOptions& options)
    : DriverDevice(driver, options), hip_(hip), facts_(std::move(facts)), memory_(*this) {
  info_ = limited(facts_.info("hip"));
  details_ = facts_.details;
}

Result<Ref<Device>> DeviceImpl::create(Driver& driver, Hip& hip, const GpuFacts& facts,
                                       const DeviceOptions& options) {
  if (const Status fault = Streams::instance().fault_of(facts.device); !fault.ok()) {
    return device_was_lost(facts.name, fault.message());
  }
  Faults::watch(hip, facts);
  install_last_words();
  auto* const device = new DeviceImpl(driver, hip, facts, options);
  device->memory_.open();
  return Ref<Device>::adopt(device);
}

// Work in flight uses memory that is about to go, and HIP waits for some of it.
void DeviceImpl::destroy() noexcept {
  // What HIP has goes with the process.
  if (Hip::process_ends()) return;
  // What kernels in flight use stays until they are done.
  kernel_heap().release();
  const auto release = [this] {
    if (!memory_.release_all()) return false;
    delete this;
    return true;
  };
  if (wait_for_release([this] { return memory_.release_all(); })) {
    release();
  } else {
    Remains::instance().keep(release);
  }
}

void DeviceImpl::fail_work(const std::string& what) {
  Streams& streams = Streams::instance();
  std::vector<Stream*> busy = streams.of_device(facts_.device);
  std::erase_if(busy, [](Stream* stream) { return stream->lost() || stream->is_quiescent(); });
  std::vector<std::string> running;
  for (Stream* const stream : busy) {
    std::string names = stream->describe_running();
    if (!names.empty()) running.push_back(std::move(names));
  }
  const Status cause = work_failed(info_.name, what, running);
  for (Stream* const stream : busy) streams.abandon(*stream, cause);
  Progress::instance().changed();
}

Status DeviceImpl::do_create_queue(const QueueOptions& options, Queue** queue) {
  HALYARD_ASSIGN_OR_RETURN(QueuePlace place, QueuePlace::take(*this));
  int least = 0;
  int greatest = 0;
  hip_.hipDeviceGetStreamPriorityRange(&least, &greatest);
  const int priority = options.priority == QueueOptions::Priority::kLow    ? least
                       : options.priority == QueueOptions::Priority::kHigh ? greatest
                                                                           : 0;
  HALYARD_ASSIGN_OR_RETURN(Stream* const stream,
                           Streams::instance().take(hip_, facts_.device, priority));
  const uint32_t capacity = this->options().capacity(options.capacity);
  *queue =
      new QueueImpl(*this, std::make_shared<QueueCore>(*this, *stream, capacity), std::move(place));
  return {};
}

Status DeviceImpl::do_import_queue(void* native_queue, Queue** queue) {
  HALYARD_RETURN_IF_ERROR(do_fault());
  const auto handle = static_cast<hipStream_t>(native_queue);
  unsigned flags = 0;
  if (handle == nullptr) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_queue is given HIP's null stream, whose device and order change "
                 "with the calling thread. Give a stream that hipStreamCreate has made.");
  }
  HALYARD_RETURN_IF_ERROR(
      check(hip_, hip_.hipStreamGetFlags(handle, &flags), "Importing a HIP stream"));
  if (hip_.hipGetStreamDeviceId != nullptr) {
    const int device = hip_.hipGetStreamDeviceId(handle);
    if (device != facts_.device) {
      return error(StatusCode::kInvalidArgument,
                   "Device::import_queue is given a stream of HIP device {}; this is device {} "
                   "({}).",
                   device, facts_.device, info_.name);
    }
  }
  Stream* const stream = Streams::instance().import(hip_, facts_.device, handle);
  *queue = new QueueImpl(*this, std::make_shared<QueueCore>(*this, *stream, 0), std::nullopt);
  return {};
}

Status DeviceImpl::do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) {
  return hand_out(BufferImpl::allocate(*this, size, options), buffer);
}

void DeviceImpl::look_at_work() {
  memory_.collect();
  // What has been marked since is known to be done only when asked for.
  Streams::instance().all_idle();
}

bool DeviceImpl::do_can_access(const Device& peer) const noexcept {
  return Peers::instance().enable(hip_, facts_.device,
                                  static_cast<const DeviceImpl&>(peer).facts_.device);
}

Status DeviceImpl::do_import_buffer(const ImportOptions& options, Buffer** buffer) {
  // An older program's is shorter.
  return hand_out(BufferImpl::import(*this, options), buffer);
}

Status DeviceImpl::do_export_buffer(Buffer& buffer, ExportedHandle* handle) {
  return static_cast<BufferImpl&>(buffer).export_ipc(handle);
}

Status DeviceImpl::do_export_dmabuf(Buffer& buffer, Dmabuf* exported) {
  return static_cast<BufferImpl&>(buffer).export_dmabuf(exported);
}

Status DeviceImpl::do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) {
  *semaphore = new SemaphoreImpl(*this, initial_value);
  return {};
}

Status DeviceImpl::do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                           size_t* index) {
  AwaitedPoints awaited(points, mode);
  const auto evaluate = [&](bool* on_device) {
    *on_device = false;
    return awaited.evaluate([&](const SemaphorePoint& point) {
      bool on_this = false;
      const PointState state = impl(*point.semaphore).evaluate(point.value, &on_this);
      *on_device |= on_this;
      return state;
    });
  };
  return awaited.result(Progress::instance().wait_until(evaluate, deadline, options().wait_spin_ns),
                        index);
}

Status DeviceImpl::do_create_command_buffer(CommandBuffer** commands) {
  *commands = new CommandBufferImpl(*this);
  return {};
}

// The bytes get onto the device by a queue of HIP's, which a lost device would not serve.
Status DeviceImpl::do_load_executable(const void* data, size_t size, Executable** executable) {
  HALYARD_RETURN_IF_ERROR(do_fault());
  return hand_out(ExecutableImpl::load(*this, data, size), executable);
}

namespace {

// HIP gives HSA's link types (hsa_amd_link_info_type_t): HyperTransport, QPI, PCIe, InfiniBand,
// xGMI.
LinkInfo::Kind link_kind(uint32_t type) {
  if (type == 2) return LinkInfo::Kind::kPcie;
  return type == 4 ? LinkInfo::Kind::kXgmi : LinkInfo::Kind::kOther;
}

}  // namespace

std::vector<LinkInfo> DeviceImpl::list_links() const {
  std::vector<LinkInfo> links;
  int count = 0;
  if (hip_.hipGetDeviceCount(&count) != hipSuccess) return links;
  for (int peer = 0; peer < count; ++peer) {
    if (peer == facts_.device) continue;
    LinkInfo info;
    info.peer_ordinal = static_cast<uint32_t>(peer);
    uint32_t type = 0;
    if (hip_.hipExtGetLinkTypeAndHopCount == nullptr ||
        hip_.hipExtGetLinkTypeAndHopCount(facts_.device, peer, &type, &info.hops) != hipSuccess ||
        info.hops == 0) {
      continue;
    }
    info.kind = link_kind(type);
    int can = 0;
    info.coherent =
        hip_.hipDeviceCanAccessPeer(&can, facts_.device, peer) == hipSuccess && can != 0;
    links.push_back(info);
  }
  return links;
}

// can_access has let this device see all other memory of the buffer's.
Status DeviceImpl::do_let_in(Buffer& buffer) {
  return BufferImpl::check_usable(buffer, *this);
}

Status DeviceImpl::do_advise(const BufferRange& range, MemoryAdvice advice) {
  HALYARD_RETURN_IF_ERROR(
      check_is_managed("Device::advise", *range.buffer, impl(*range.buffer).is_managed()));
  return hip::advise(*this, range, advice);
}

Status DeviceImpl::do_commit(const BufferRange& range) {
  const BufferImpl& buffer = impl(*range.buffer);
  return halyard::commit(buffer.reserved(), range, buffer.offset_in_parent());
}

Status DeviceImpl::do_decommit(const BufferRange& range) {
  const BufferImpl& buffer = impl(*range.buffer);
  return halyard::decommit(buffer.reserved(), range, buffer.offset_in_parent());
}

Status DeviceImpl::do_read_clocks(ClockReading* reading) const {
  return hip::read_clocks(hip_, facts_, reading);
}

Status DeviceImpl::do_fault() const {
  return Streams::instance().fault_of(facts_.device);
}

}  // namespace halyard::hip
