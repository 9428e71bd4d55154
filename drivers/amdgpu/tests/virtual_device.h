// The driver on the virtual GPU, without the registry: what the integration tests start from.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/queue.h"
#include "drivers/amdgpu/semaphore.h"
#include "hal/device.h"
#include "hal/driver.h"

namespace halyard::amdgpu {

// The code object in cts/kernels/<name>.hipfb that is for `target`, or that it loads.
std::vector<std::byte> read_kernels(const std::string& target, const std::string& name);

inline std::string text(const Status& status) {
  return status.to_string();
}

#define ASSERT_OK(expression) \
  if (const ::halyard::Status status_ = (expression); !status_.ok()) FAIL() << text(status_)
#define EXPECT_OK(expression) \
  if (const ::halyard::Status status_ = (expression); !status_.ok()) ADD_FAILURE() << text(status_)

class VirtualDeviceTest : public ::testing::Test {
 public:
  // Lets the kernel of hold() end.
  void release_kernel();

 protected:
  // One driver and one process-wide runtime for all tests; a device for each.
  VirtualDeviceTest();
  ~VirtualDeviceTest() override { release_kernel(); }

  template <typename T>
  static T take(Result<T> result) {
    if (!result.ok()) {
      ADD_FAILURE() << text(result.status());
      std::abort();
    }
    return std::move(result).value();
  }

  // Long enough for any machine; a test that waits as long has failed.
  static Deadline time_limit() { return Deadline::after_ns(60'000'000'000); }

  static Driver& driver();
  DeviceImpl& impl() { return static_cast<DeviceImpl&>(*device_); }
  static QueueCore& core(const Ref<Queue>& queue) { return static_cast<QueueImpl&>(*queue).core(); }
  // How many packets the ring was given, and how many of them are done.
  static uint64_t submitted(const Ref<Queue>& queue) {
    return core(queue).ring().reserved() - core(queue).ring().first();
  }
  static uint64_t completed(const Ref<Queue>& queue) {
    return core(queue).epoch().completed() - core(queue).ring().first();
  }

  Ref<Queue> new_queue(uint32_t capacity = 0);
  Ref<Semaphore> new_semaphore(uint64_t value = 0) {
    return take(device_->create_semaphore(value));
  }
  Ref<Buffer> host_buffer(uint64_t size);
  Ref<Buffer> device_buffer(uint64_t size) { return take(device_->allocate(size)); }
  template <typename T>
  static T* view(const Ref<Buffer>& buffer) {
    return static_cast<T*>(take(buffer->map(0, buffer->size(), MapAccess::kReadWrite)));
  }
  // The function `name` of cts/kernels/<file>.hipfb, loaded once.
  const Function& function(const std::string& file, const std::string& name);

  // data[i] = data[i] * multiplier + addend for the n words of `data`.
  Status affine(Queue& queue, const Ref<Buffer>& data, uint32_t multiplier, uint32_t addend,
                const Sync& sync = {});
  // Waits until all that is in `queue` is done.
  void finish(Queue& queue);
  std::vector<uint32_t> download(Queue& queue, const Ref<Buffer>& buffer);

  // A kernel that runs until release_kernel(), or the end of the test; one at a time.
  Status hold(Queue& queue, const Sync& sync = {});
  bool kernel_has_ended() const { return std::atomic_ref<uint32_t>(mail_[1]).load() != 0; }

  Ref<Device> device_;

 private:
  std::vector<std::pair<std::string, Ref<Executable>>> executables_;
  Ref<Buffer> mail_buffer_;
  uint32_t* mail_ = nullptr;
};

}  // namespace halyard::amdgpu
