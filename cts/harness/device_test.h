// The fixture of tests that use a device: a queue, kernels, buffers, a timeline and random input.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cts/harness/check.h"
#include "cts/harness/when.h"
#include "hal/device.h"

namespace halyard::cts {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The test's device, which all tests share. Tests that count objects open their own, because a
  // driver may keep objects for a while that earlier tests have released.
  virtual Result<Ref<Device>> open_device();
  Device& device() { return *device_; }
  Queue& queue() { return *queue_; }

  // Long enough for all work that ends, so that a hang is a failure with a message.
  static Deadline time_limit();

  Ref<Queue> new_queue() { return take(device().create_queue()); }
  Ref<Semaphore> new_semaphore(uint64_t value = 0) {
    return take(device().create_semaphore(value));
  }

  // For one operation that is to be waited for with finish():
  //   ASSERT_OK(queue().fill(buffer, &zero, 1, next()));
  //   ASSERT_OK(finish());
  Sync next();
  // DEADLINE_EXCEEDED also if it was done in time, but the wait did not hear of it.
  Status finish() const;
  // Waits for all work submitted to `target`.
  Status drain(Queue& target);

  // data[i] = data[i] * multiplier + addend over the first `count` words of `data`, which is a
  // buffer or a slot: work whose order shows in the result.
  Launch affine(const Argument& data, uint32_t count, uint32_t multiplier, uint32_t addend);

  // A function of one of the suite's fat files, loaded once per test.
  const Function* function(std::string_view object, std::string_view name);
  Ref<Executable> executable(std::string_view object);
  // The fat file that it comes from.
  std::vector<std::byte> object_bytes(std::string_view object);

  // Submits and waits.
  Status run(const Function* function, Dim3 grid, Dim3 workgroup,
             std::initializer_list<Argument> arguments, uint32_t dynamic_lds_bytes = 0);

  // That the executable's vadd adds.
  void expect_vadd_works(Executable& loaded);
  // After a fault: that a device, the same or one that is opened anew, does what a queue is given
  // and what a recording has.
  static void expect_life();

  Ref<Buffer> allocate(uint64_t bytes, MemoryType type = MemoryType::kDevice);
  // Device memory with these contents.
  template <typename T>
  Ref<Buffer> upload(const std::vector<T>& values) {
    Ref<Buffer> buffer = allocate(values.size() * sizeof(T));
    write(*buffer, 0, values.data(), values.size() * sizeof(T));
    return buffer;
  }
  // Device memory full of a byte that no expected result has by chance.
  Ref<Buffer> poisoned(uint64_t bytes);
  // The whole of a buffer.
  template <typename T>
  std::vector<T> download(Buffer& buffer) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(buffer.size() / sizeof(T));
    read(buffer, 0, values.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T>
  std::vector<T> download(const Ref<Buffer>& buffer) {
    return download<T>(*buffer);
  }
  void write(Buffer& target, uint64_t offset, const void* source, uint64_t size);
  void read(Buffer& source, uint64_t offset, void* target, uint64_t size);

  // Random input: the same for every run with one seed, which a failure prints.
  std::mt19937_64& random() { return random_; }
  template <typename T>
  std::vector<T> random_integers(size_t count, T low = std::numeric_limits<T>::min(),
                                 T high = std::numeric_limits<T>::max()) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    std::uniform_int_distribution<Wide> distribution(low, high);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(distribution(random_));
    return values;
  }
  template <typename T>
  std::vector<T> random_reals(size_t count, double low, double high) {
    std::uniform_real_distribution<double> distribution(low, high);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(distribution(random_));
    return values;
  }
  // Any bits: also infinities, NaNs and denormals.
  template <typename T>
  std::vector<T> random_bits(size_t count) {
    std::vector<T> values(count);
    for (T& value : values) {
      const uint64_t bits = random_();
      static_assert(sizeof(T) <= sizeof(bits));
      std::memcpy(&value, &bits, sizeof(T));
    }
    return values;
  }

 private:
  uint64_t seed_ = 0;
  std::mt19937_64 random_;
  Ref<Device> device_;
  Ref<Queue> queue_;
  Ref<Semaphore> timeline_;
  uint64_t reached_ = 0;
  SemaphorePoint point_;
  std::map<std::string, Ref<Executable>, std::less<>> executables_;
};

// Grid for `items` work-items in whole work-groups of `workgroup`.
inline Dim3 whole_groups(uint32_t items, uint32_t workgroup) {
  return {(items + workgroup - 1) / workgroup * workgroup, 1, 1};
}

}  // namespace halyard::cts
