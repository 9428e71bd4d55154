// The driver on HIP, on a virtual GPU, and the suite's kernels for it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "drivers/hip/driver.h"
#include "drivers/hip/hip.h"
#include "hal/device.h"
#include "vgpu/halyard_vgpu.h"

namespace halyard::hip {

#define ASSERT_OK(expression) \
  if (const ::halyard::Status status_ = (expression); !status_.ok()) FAIL() << status_.to_string()

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status().to_string();
    std::abort();
  }
  return std::move(result).value();
}

// One for the process, with the profile of the first call. Never destroyed: the runtime's threads
// outlive main.
inline Driver& virtual_driver(const char* profile) {
  static Driver* const driver = [profile] {
    // Before HIP is opened.
    void* const library = dlopen(HALYARD_TEST_VGPU, RTLD_NOW);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    const auto configure =
        reinterpret_cast<halyard_vgpu_configure_t>(dlsym(library, "halyard_vgpu_configure"));
    const auto enter = reinterpret_cast<halyard_vgpu_enter_t>(dlsym(library, "halyard_vgpu_enter"));
    char error[1024] = "";
    Driver* made = nullptr;
    if (configure(profile, error, sizeof error) != 0 || enter(nullptr, error, sizeof error) != 0 ||
        !DriverImpl::create({}, &made).ok()) {
      std::fprintf(stderr, "no virtual GPU, or no HIP: %s\n", error);
      std::abort();
    }
    return made;
  }();
  return *driver;
}

// What the driver calls while this lives.
class CallCounts {
 public:
  explicit CallCounts(const Hip& hip) : hip_(const_cast<Hip&>(hip)) {
    counted.records = counted.writes = counted.synchronised = 0;
    record = std::exchange(hip_.hipEventRecord, [](hipEvent_t event, hipStream_t stream) {
      ++counted.records;
      return record(event, stream);
    });
    write = hip_.hipStreamWriteValue64;
    if (write != nullptr) {
      hip_.hipStreamWriteValue64 = [](hipStream_t stream, void* word, uint64_t value,
                                      unsigned flags) {
        ++counted.writes;
        return write(stream, word, value, flags);
      };
    }
    synchronise = std::exchange(hip_.hipStreamSynchronize, [](hipStream_t stream) {
      ++counted.synchronised;
      return synchronise(stream);
    });
  }
  CallCounts(const CallCounts&) = delete;
  CallCounts& operator=(const CallCounts&) = delete;
  ~CallCounts() {
    hip_.hipEventRecord = record;
    hip_.hipStreamWriteValue64 = write;
    hip_.hipStreamSynchronize = synchronise;
  }

  int records() const { return counted.records; }
  int writes() const { return counted.writes; }
  int synchronised() const { return counted.synchronised; }

 private:
  struct Counts {
    std::atomic<int> records;       // C++20: 0
    std::atomic<int> writes;        // C++20: 0
    std::atomic<int> synchronised;  // C++20: 0
  };
  static inline Counts counted;
  static inline decltype(Hip::hipEventRecord) record = nullptr;
  static inline decltype(Hip::hipStreamWriteValue64) write = nullptr;
  static inline decltype(Hip::hipStreamSynchronize) synchronise = nullptr;

  Hip& hip_;
};

inline Ref<Executable> load(Device& device, const std::string& name) {
  std::ifstream file(std::string(HALYARD_TEST_KERNELS) + "/" + name + ".hipfb", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return take(device.load_executable(bytes.data(), bytes.size()));
}

}  // namespace halyard::hip
