// What the kernels of an executable print through, and allocate from.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/status.h"
#include "plugins/sdk/hostcall_service.h"

namespace halyard {

class PrintfService;

// A part of an executable; goes when nothing of it runs any more.
class PrintServices {
 public:
  PrintServices();
  ~PrintServices();
  PrintServices(const PrintServices&) = delete;
  PrintServices& operator=(const PrintServices&) = delete;

  // Gives the functions, which are those of the code object in `data`, the buffers that they want;
  // nothing for those that neither print nor allocate. If the formats of printf cannot be used, the
  // functions that need them are refused.
  Status start(DriverDevice& device, const std::vector<driver::FunctionBase*>& functions,
               const void* data, size_t size, const AllocateShared& allocate);

 private:
  Status start_printf(const void* data, size_t size, const AllocateShared& allocate);

  std::shared_ptr<HostcallService> calls_;
  std::unique_ptr<PrintfService> printf_;
  std::string bad_formats_;  // why printf_ cannot be
};

}  // namespace halyard
