#include "plugins/sdk/print_services.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "hal/hidden_buffers.h"
#include "hal/printf_formats.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/polling_thread.h"
#include "plugins/sdk/printf_buffer.h"

namespace halyard {
namespace {

// What is printed while the host is busy elsewhere must fit.
constexpr size_t kPrintfBytes = 4 << 20;

constexpr PrintfBuffer::Timeouts kTimeouts = {std::chrono::seconds(1),
                                              std::chrono::milliseconds(5)};

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

// The buffer of an executable's printf, and the thread that reads it.
class PrintfService {
 public:
  PrintfService(SharedMemory memory, const std::vector<PrintfFormat>& formats)
      : memory_(std::move(memory)), buffer_(memory_.host, kPrintfBytes, formats, kTimeouts) {}
  ~PrintfService() {
    thread_.stop();
    buffer_.drain(print, true);
    memory_.free();
  }
  PrintfService(const PrintfService&) = delete;
  PrintfService& operator=(const PrintfService&) = delete;

  Status start() {
    return thread_.start("halyard-printf", "kernels that print need one to read what they write",
                         [this] { return buffer_.drain(print, false); });
  }
  uint64_t address() const { return memory_.device; }

 private:
  SharedMemory memory_;
  PrintfBuffer buffer_;
  PollingThread thread_;
};

PrintServices::PrintServices() = default;
PrintServices::~PrintServices() = default;

Status PrintServices::start_printf(const void* data, size_t size, const AllocateShared& allocate) {
  const Result<std::vector<PrintfFormat>> formats = read_printf_formats(data, size);
  if (!formats.ok()) {
    bad_formats_ = formats.status().message().view();
    return {};
  }
  HALYARD_ASSIGN_OR_RETURN(SharedMemory memory, allocate(kPrintfBytes));
  printf_ = std::make_unique<PrintfService>(std::move(memory), *formats);
  return printf_->start();
}

Status PrintServices::start(DriverDevice& device,
                            const std::vector<driver::FunctionBase*>& functions, const void* data,
                            size_t size, const AllocateShared& allocate) {
  for (driver::FunctionBase* const function : functions) {
    if (!function->info().problem.empty()) continue;
    if (wants_hidden_buffer(function->info(), ArgumentKind::kHiddenHostcallBuffer)) {
      if (!calls_) {
        HALYARD_ASSIGN_OR_RETURN(calls_, HostcallService::of(device, allocate));
      }
      function->give_hidden_buffer(ArgumentKind::kHiddenHostcallBuffer, calls_->address());
    }
    if (wants_hidden_buffer(function->info(), ArgumentKind::kHiddenHeap)) {
      HALYARD_ASSIGN_OR_RETURN(const uint64_t state, device.kernel_heap().state());
      function->give_hidden_buffer(ArgumentKind::kHiddenHeap, state);
    }
    if (wants_hidden_buffer(function->info(), ArgumentKind::kHiddenPrintfBuffer)) {
      if (!printf_ && bad_formats_.empty())
        HALYARD_RETURN_IF_ERROR(start_printf(data, size, allocate));
      if (printf_) {
        function->give_hidden_buffer(ArgumentKind::kHiddenPrintfBuffer, printf_->address());
      } else {
        function->refuse(bad_formats_);
      }
    }
  }
  return {};
}

}  // namespace halyard
