// The unmodified HSA runtime on the virtual kernel driver, for integration tests.
#pragma once

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <string>
#include <vector>

namespace halyard::vgpu::testing {

// Opens the virtual GPU, then the runtime by its soname, as Halyard does. One per process; never
// closed.
class HsaRuntime {
 public:
  // The runtime, initialised; null with a reason in error() if that failed.
  static HsaRuntime* instance();
  static const std::string& error();

  // A function of the runtime. Aborts the test program if it is not there.
  template <typename F>
  F* function(F*, const char* name) const {
    return reinterpret_cast<F*>(find(name));
  }
  void* find(const char* name) const;
  // The same of a function that not every release has: null without it.
  void* find_if_there(const char* name) const;

  // Copies by the agents' engines, and waits for it.
  [[nodiscard]] hsa_status_t copy(void* to, hsa_agent_t to_agent, const void* from,
                                  hsa_agent_t from_agent, size_t bytes) const;

  hsa_agent_t gpu{};
  hsa_agent_t cpu{};
  hsa_amd_memory_pool_t vram{};
  hsa_amd_memory_pool_t system{};  // fine-grained
  hsa_amd_memory_pool_t kernarg{};

 private:
  std::string open();
  void* library_ = nullptr;
};

// HSA(hsa_signal_create)(...) calls the runtime's function.
#define HSA(name)                                              \
  (::halyard::vgpu::testing::HsaRuntime::instance()->function( \
      static_cast<decltype(&name)>(nullptr), #name))

}  // namespace halyard::vgpu::testing
