// What the HSA runtime says of an agent, for drivers on it. `Hsa` is the driver's table of the
// runtime's functions: any class whose members have the functions' names. For drivers that have
// HSA's headers; the driver core itself does not need them.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <string>

#include "drivers/common/driver_device.h"

namespace halyard {

// False, with *value as it was, if this runtime does not know `what` (hsa_agent_info_t or
// hsa_amd_agent_info_t).
template <typename Hsa, typename T>
bool get_agent_info(const Hsa& hsa, hsa_agent_t agent, int what, T* value) {
  return hsa.hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(what), value) ==
         HSA_STATUS_SUCCESS;
}

// Names are at most 64 bytes with the terminator; newer runtimes may fill all of it. "" if unknown.
template <typename Hsa>
std::string agent_text(const Hsa& hsa, hsa_agent_t agent, int what) {
  char buffer[128] = {};
  return get_agent_info(hsa, agent, what, &buffer) ? std::string(buffer) : std::string();
}

// "0000:43:00.0"; "" if unknown.
template <typename Hsa>
std::string agent_pci_address(const Hsa& hsa, hsa_agent_t agent) {
  uint32_t location = 0;
  uint32_t domain = 0;
  if (!get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_BDFID, &location)) return {};
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_DOMAIN, &domain);
  return pci_address_of(domain, location);
}

// "gfx90a:sramecc+:xnack-", of "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-". "" if there is none.
template <typename Hsa>
std::string agent_target(const Hsa& hsa, hsa_agent_t agent) {
  struct Context {
    const Hsa& hsa;
    std::string name;
  } context{hsa, {}};
  const auto visit = [](hsa_isa_t isa, void* data) {
    auto& c = *static_cast<Context*>(data);
    uint32_t length = 0;
    if (c.hsa.hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length) != HSA_STATUS_SUCCESS) {
      return HSA_STATUS_SUCCESS;
    }
    std::string name(length, '\0');
    if (c.hsa.hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name.data()) != HSA_STATUS_SUCCESS) {
      return HSA_STATUS_SUCCESS;
    }
    name.resize(std::min(name.size(), name.find('\0')));
    c.name = name;
    // The first is the agent's own; generic ones follow on newer runtimes.
    return HSA_STATUS_INFO_BREAK;
  };
  hsa.hsa_agent_iterate_isas(agent, visit, &context);
  const size_t at = context.name.find("--");
  return at == std::string::npos ? context.name : context.name.substr(at + 2);
}

}  // namespace halyard
