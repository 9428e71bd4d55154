// What the kernels of an executable print through.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "drivers/common/hostcall_service.h"
#include "hal/status.h"
#include "plugins/objects.h"

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
  // nothing for those that do not print.
  Status start(const std::vector<driver::FunctionBase*>& functions, const void* data, size_t size,
               const AllocateShared& allocate);

 private:
  std::shared_ptr<HostcallService> calls_;
  std::unique_ptr<PrintfService> printf_;
};

}  // namespace halyard
