#include "drivers/amdgpu/tests/virtual_device.h"

#include <dlfcn.h>

#include <cstdlib>

#include "cts/kernels/variant.h"
#include "drivers/amdgpu/driver.h"
#include "vgpu/halyard_vgpu.h"

namespace halyard::amdgpu {

namespace {

// Before the HSA runtime is initialised.
void load_virtual_gpu() {
  void* const library = dlopen(HALYARD_TEST_VGPU, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  const auto configure =
      reinterpret_cast<halyard_vgpu_configure_t>(dlsym(library, "halyard_vgpu_configure"));
  const auto enter = reinterpret_cast<halyard_vgpu_enter_t>(dlsym(library, "halyard_vgpu_enter"));
  const char* const profile = std::getenv("HALYARD_TEST_PROFILE");
  char error[1024] = "";
  if (configure(profile != nullptr ? profile : "gfx900", error, sizeof error) != 0 ||
      enter(nullptr, error, sizeof error) != 0) {
    std::fprintf(stderr, "%s\n", error);
    std::abort();
  }
}

}  // namespace

std::vector<std::byte> read_kernels(const std::string& target, const std::string& name) {
  Result<std::vector<std::byte>> object =
      read_variant(std::string(HALYARD_TEST_KERNELS) + "/" + name + ".hipfb", target);
  if (object.ok()) return std::move(object).value();
  ADD_FAILURE() << text(object.status());
  return {};
}

Driver& VirtualDeviceTest::driver() {
  // Never destroyed: the runtime's threads outlive main.
  static Driver* const driver = [] {
    load_virtual_gpu();
    Driver* made = nullptr;
    if (const Status status = DriverImpl::create({}, &made); !status.ok()) {
      std::fprintf(stderr, "%s\n", text(status).c_str());
      std::abort();
    }
    return made;
  }();
  return *driver;
}

VirtualDeviceTest::VirtualDeviceTest() : device_(take(driver().create_device(0))) {}

Ref<Queue> VirtualDeviceTest::new_queue(uint32_t capacity) {
  QueueOptions options;
  options.capacity = capacity;
  return take(device_->create_queue(options));
}

Ref<Buffer> VirtualDeviceTest::host_buffer(uint64_t size) {
  BufferOptions options;
  options.type = MemoryType::kHost;
  return take(device_->allocate(size, options));
}

const Function& VirtualDeviceTest::function(const std::string& file, const std::string& name) {
  for (const auto& [known, executable] : executables_) {
    if (known == file) return *take(executable->find(name));
  }
  const std::vector<std::byte> bytes =
      read_kernels(std::string(device_->info().target.view()), file);
  executables_.emplace_back(file, take(device_->load_executable(bytes.data(), bytes.size())));
  return *take(executables_.back().second->find(name));
}

Status VirtualDeviceTest::affine(Queue& queue, const Ref<Buffer>& data, uint32_t multiplier,
                                 uint32_t addend, const Sync& sync) {
  const auto n = static_cast<uint32_t>(data->size() / sizeof(uint32_t));
  const Argument arguments[] = {data, Argument::of(n), Argument::of(multiplier),
                                Argument::of(addend)};
  Dispatch dispatch;
  dispatch.function = &function("busy", "affine");
  dispatch.grid = {(n + 63) / 64 * 64, 1, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  return queue.dispatch(dispatch, sync);
}

void VirtualDeviceTest::finish(Queue& queue) {
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(queue.barrier({.wait = {}, .signal = {&point, 1}}));
  ASSERT_OK(done->wait(1, time_limit()));
}

std::vector<uint32_t> VirtualDeviceTest::download(Queue& queue, const Ref<Buffer>& buffer) {
  const Ref<Buffer> staging = host_buffer(buffer->size());
  EXPECT_OK(queue.copy(buffer, staging));
  finish(queue);
  const auto* words = view<uint32_t>(staging);
  const uint64_t count = buffer->size() / sizeof(uint32_t);
  return {words, words + count};
}

Status VirtualDeviceTest::hold(Queue& queue, const Sync& sync) {
  mail_buffer_ = host_buffer(2 * sizeof(uint32_t));
  mail_ = view<uint32_t>(mail_buffer_);
  std::fill_n(mail_, 2, 0u);
  // How often it looks before it gives up: minutes.
  const Argument arguments[] = {mail_buffer_, Argument::of(uint32_t{1}),
                                Argument::of(uint32_t{100'000'000})};
  Dispatch dispatch;
  dispatch.function = &function("coherence", "answer");
  dispatch.grid = dispatch.workgroup = {1, 1, 1};
  dispatch.arguments = arguments;
  return queue.dispatch(dispatch, sync);
}

void VirtualDeviceTest::release_kernel() {
  if (mail_ != nullptr) std::atomic_ref<uint32_t>(mail_[0]).store(1);
}

}  // namespace halyard::amdgpu
