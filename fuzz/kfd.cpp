// A program's requests to the virtual kernel driver: requests to both devices, mappings of them,
// and the program's own use of its addresses. Any request is legal input: it gets an errno value,
// and memory that the program has not given to the driver stays unchanged.
//
// The input is a list of steps: a byte that selects the step, and its arguments (Step).
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/kfd/drm.h"
#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/machine/machine.h"

namespace {

namespace kfd = halyard::vgpu::kfd;
namespace machine = halyard::vgpu::machine;

constexpr uint64_t kPage = 4096;
// Addresses that the program has reserved, at the start of each input.
constexpr uint64_t kReserved = 0x10000000;
constexpr uint64_t kReservedBytes = 0x400000;
// Memory that it reads and writes: arguments, arrays, registered memory.
constexpr uint64_t kOwn = 0x20000000;
constexpr uint64_t kOwnBytes = 0x10000;
// Memory that must not change.
constexpr uint64_t kPrecious = 0x30000000;
constexpr uint64_t kPreciousBytes = 0x10000;
constexpr unsigned char kPreciousByte = 0x77;
constexpr size_t kMaxArgumentBytes = 256;

enum class Step : uint8_t {
  kRequest,     // number, bytes of the argument, the argument
  kDrmRequest,  // the same, of the first render node
  kMapKfd,      // address, bytes, offset, protection, flags: 8 bytes each
  kMapRender,   // the same
  kUnmap,       // address, bytes
  kProtect,     // address, bytes
  kStore,       // offset in its own memory, a byte, so many bytes
  kCount,
};

[[noreturn]] void fail(const char* text) {
  std::fputs(text, stderr);
  std::abort();
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

void map_at(uint64_t begin, uint64_t bytes, int protection, int flags) {
  if (mmap(pointer(begin), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) !=
      pointer(begin))
    fail("There is no memory at the address that the inputs name.\n");
}

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  // Zeros behind the end.
  void read(void* to, size_t bytes) {
    const size_t some = std::min(bytes, size_);
    std::memset(to, 0, bytes);
    if (some != 0) std::memcpy(to, data_, some);
    data_ += some;
    size_ -= some;
  }
  template <class T>
  T read() {
    T value = {};
    read(&value, sizeof value);
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// A part of the program's reserved addresses, with which it can do anything.
struct Range {
  uint64_t begin;
  uint64_t bytes;
};
Range reserved_range(Input& input) {
  const uint64_t begin = input.read<uint64_t>() % kReservedBytes / kPage * kPage;
  const uint64_t bytes = input.read<uint64_t>() % (kReservedBytes - begin) + 1;
  return {kReserved + begin, (bytes + kPage - 1) / kPage * kPage};
}

const machine::Profile& two_gpus() {
  static const machine::Profile profile = [] {
    machine::GpuProfile gpu;
    gpu.processor = "gfx90a";
    gpu.svm = true;
    gpu.memory_bytes = uint64_t{64} << 20;
    gpu.execute = false;
    gpu.watch_doorbells = false;
    machine::Profile made;
    made.name = "fuzz";
    made.gpus = {gpu, gpu};
    made.gpus[1].large_bar = false;
    return made;
  }();
  return profile;
}

// Requests to the kernel driver can wait forever, as with a real one.
void shorten_wait(uint8_t number, void* argument, size_t bytes) {
  if (number != static_cast<uint8_t>(kfd::abi::Request::kWaitEvents)) return;
  kfd::abi::WaitEvents wait;
  if (bytes < sizeof wait) return;
  std::memcpy(&wait, argument, sizeof wait);
  wait.timeout = std::min<uint32_t>(wait.timeout, 1);
  std::memcpy(argument, &wait, sizeof wait);
}

// Descriptors that requests have returned: open until the input's end.
std::vector<uint32_t> descriptors;

// Where a request's argument has a descriptor; behind its end if it has none.
size_t descriptor_in(uint8_t number, bool is_drm) {
  using kfd::abi::Request;
  if (is_drm) {
    const bool is_prime =
        number == kfd::drm::kPrimeFdToHandleNumber || number == kfd::drm::kPrimeHandleToFdNumber;
    return is_prime ? offsetof(kfd::drm::PrimeHandle, fd) : kMaxArgumentBytes;
  }
  switch (static_cast<Request>(number)) {
    case Request::kExportDmabuf:
      return offsetof(kfd::abi::ExportDmabuf, dmabuf_fd);
    case Request::kImportDmabuf:
      return offsetof(kfd::abi::ImportDmabuf, dmabuf_fd);
    case Request::kGetDmabufInfo:
      return offsetof(kfd::abi::GetDmabufInfo, dmabuf_fd);
    case Request::kSmiEvents:
      return offsetof(kfd::abi::SmiEvents, fd);
    default:
      return kMaxArgumentBytes;
  }
}

bool returns_descriptor(uint8_t number, bool is_drm) {
  if (is_drm) return number == kfd::drm::kPrimeHandleToFdNumber;
  return number == static_cast<uint8_t>(kfd::abi::Request::kExportDmabuf) ||
         number == static_cast<uint8_t>(kfd::abi::Request::kSmiEvents);
}

// A small number is one of the descriptors.
void put_descriptor(uint8_t number, bool is_drm, unsigned char* argument, size_t bytes) {
  const size_t at = descriptor_in(number, is_drm);
  uint32_t value = 0;
  if (at + sizeof value > bytes || returns_descriptor(number, is_drm)) return;
  std::memcpy(&value, argument + at, sizeof value);
  if (value < descriptors.size()) std::memcpy(argument + at, &descriptors[value], sizeof value);
}

void keep_descriptor(uint8_t number, bool is_drm, const unsigned char* argument, size_t bytes) {
  uint32_t value = 0;
  if (!returns_descriptor(number, is_drm)) return;
  const size_t at = descriptor_in(number, is_drm);
  if (at + sizeof value > bytes) return;  // as from Linux, it is lost
  std::memcpy(&value, argument + at, sizeof value);
  descriptors.push_back(value);
}

void close_descriptors() {
  for (const uint32_t descriptor : descriptors) close(static_cast<int>(descriptor));
  descriptors.clear();
}

void request(Input& input, kfd::Kfd& driver, bool is_drm) {
  const auto number = input.read<uint8_t>();
  const auto bytes = input.read<uint8_t>();
  alignas(8) unsigned char argument[kMaxArgumentBytes];
  input.read(argument, bytes);
  shorten_wait(number, argument, bytes);
  put_descriptor(number, is_drm, argument, bytes);
  const unsigned type = is_drm ? 'd' : kfd::abi::kRequestType;
  const unsigned long code = _IOC(_IOC_READ | _IOC_WRITE, type, number, bytes);
  // Shorter arguments are other requests, but without a timeout a wait has none that is long.
  const int result = is_drm ? kfd::drm_ioctl(driver, 0, code, argument)
                            : driver.ioctl(code, bytes != 0 ? argument : nullptr);
  if (result > 0 || result < -4095) fail("A result that is no errno value.\n");
  if (result == 0) keep_descriptor(number, is_drm, argument, bytes);
}

void map_device(Input& input, kfd::Kfd& driver, bool is_render) {
  auto address = input.read<uint64_t>();
  const auto bytes = input.read<uint64_t>();
  const auto offset = input.read<uint64_t>();
  const int protection = static_cast<int>(input.read<uint64_t>() & 7);
  int flags = MAP_SHARED;
  if ((input.read<uint64_t>() & 1) != 0) {
    // Over existing mappings, only where these belong to the program.
    flags |= MAP_FIXED;
    address = kReserved + address % kReservedBytes / kPage * kPage;
    if (bytes > kReserved + kReservedBytes - address) return;
  }
  is_render ? driver.map_render_node(pointer(address), bytes, protection, flags, offset)
            : driver.map(pointer(address), bytes, protection, flags, offset);
}

void step(Input& input, kfd::Kfd& driver) {
  const auto what = static_cast<Step>(input.read<uint8_t>() % static_cast<uint8_t>(Step::kCount));
  switch (what) {
    case Step::kRequest:
    case Step::kDrmRequest:
      return request(input, driver, what == Step::kDrmRequest);
    case Step::kMapKfd:
    case Step::kMapRender:
      return map_device(input, driver, what == Step::kMapRender);
    case Step::kUnmap: {
      const Range range = reserved_range(input);
      driver.unmapped_by_host(range.begin, range.bytes);
      munmap(pointer(range.begin), range.bytes);
      return;
    }
    case Step::kProtect: {
      const Range range = reserved_range(input);
      driver.protected_by_host(range.begin, range.bytes);
      mprotect(pointer(range.begin), range.bytes, PROT_READ);
      return;
    }
    case Step::kStore: {
      const auto offset = input.read<uint16_t>();
      const auto bytes = input.read<uint8_t>();
      unsigned char text[256];
      input.read(text, bytes);
      std::memcpy(pointer(kOwn + std::min<uint64_t>(offset, kOwnBytes - bytes)), text, bytes);
      return;
    }
    case Step::kCount:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool once = [] {
    constexpr int kNew = MAP_FIXED_NOREPLACE;
    map_at(kReserved, kReservedBytes, PROT_NONE, kNew);
    map_at(kOwn, kOwnBytes, PROT_READ | PROT_WRITE, kNew);
    map_at(kPrecious, kPreciousBytes, PROT_READ | PROT_WRITE, kNew);
    std::memset(pointer(kPrecious), kPreciousByte, kPreciousBytes);
    // Requests that answer into it get EFAULT.
    mprotect(pointer(kPrecious), kPreciousBytes, PROT_READ);
    return true;
  }();
  static_cast<void>(once);
  std::memset(pointer(kOwn), 0, kOwnBytes);
  map_at(kReserved, kReservedBytes, PROT_NONE, MAP_FIXED | MAP_NORESERVE);
  {
    std::string error;
    const std::unique_ptr<machine::Machine> machine = machine::Machine::create(two_gpus(), error);
    if (machine == nullptr) fail(error.c_str());
    kfd::Kfd driver(*machine);
    driver.reserved_by_host(kReserved, kReservedBytes);
    Input input(data, size);
    while (!input.empty()) step(input, driver);
    close_descriptors();
  }
  const auto* const precious = static_cast<const unsigned char*>(pointer(kPrecious));
  if (std::any_of(precious, precious + kPreciousBytes,
                  [](unsigned char byte) { return byte != kPreciousByte; }))
    fail("Memory of the program's was changed.\n");
  return 0;
}
