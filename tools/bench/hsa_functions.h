// The HSA functions that the bare loops use, from a library that is opened at run time.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <string>

#include "tools/bench/failure.h"

namespace halyard::bench {

struct Hsa {
#define HALYARD_BENCH_HSA_FUNCTIONS(X)         \
  X(hsa_init)                                  \
  X(hsa_status_string)                         \
  X(hsa_iterate_agents)                        \
  X(hsa_agent_get_info)                        \
  X(hsa_code_object_reader_create_from_memory) \
  X(hsa_code_object_reader_destroy)            \
  X(hsa_executable_create_alt)                 \
  X(hsa_executable_destroy)                    \
  X(hsa_executable_load_agent_code_object)     \
  X(hsa_executable_freeze)                     \
  X(hsa_executable_get_symbol_by_name)         \
  X(hsa_executable_symbol_get_info)            \
  X(hsa_queue_create)                          \
  X(hsa_queue_destroy)                         \
  X(hsa_queue_add_write_index_relaxed)         \
  X(hsa_queue_load_read_index_scacquire)       \
  X(hsa_queue_load_write_index_relaxed)        \
  X(hsa_signal_create)                         \
  X(hsa_signal_destroy)                        \
  X(hsa_signal_store_screlease)                \
  X(hsa_signal_store_relaxed)                  \
  X(hsa_signal_wait_scacquire)                 \
  X(hsa_amd_agent_iterate_memory_pools)        \
  X(hsa_amd_memory_pool_get_info)              \
  X(hsa_amd_memory_pool_allocate)              \
  X(hsa_amd_memory_pool_free)                  \
  X(hsa_amd_agents_allow_access)               \
  X(hsa_amd_memory_async_copy)                 \
  X(hsa_amd_memory_fill)
#define X(name) decltype(&::name) name = nullptr;
  HALYARD_BENCH_HSA_FUNCTIONS(X)
#undef X

  explicit Hsa(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
    if (library == nullptr) throw Failure(dlerror());
#define X(name)                                                   \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  if (name == nullptr) throw Failure(fmt::format("{} has no {}.", path, #name));
    HALYARD_BENCH_HSA_FUNCTIONS(X)
#undef X
    check(hsa_init(), "hsa_init");
  }

  void check(hsa_status_t status, const char* what) const {
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) [[likely]]
      return;
    const char* text = nullptr;
    if (hsa_status_string(status, &text) != HSA_STATUS_SUCCESS) text = "?";
    throw Failure(
        fmt::format("{} fails: {} (HSA status {:#x}).", what, text, static_cast<uint32_t>(status)));
  }
};

}  // namespace halyard::bench
