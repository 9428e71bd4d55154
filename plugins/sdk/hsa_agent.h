// What the HSA runtime says of an agent, for drivers on it. `Hsa` is the driver's table of the
// runtime's functions: any class whose members have the functions' names. For drivers that have
// HSA's headers; the driver core itself does not need them.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <string>

#include "hal/error.h"
#include "hal/target_id.h"
#include "plugins/sdk/driver_device.h"

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

// Names, target, sizes and clock of a GPU; not its memory.
template <typename Hsa>
Status describe_agent(const Hsa& hsa, hsa_agent_t agent, DeviceFacts* facts) {
  facts->name = agent_text(hsa, agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
  if (facts->name.empty()) facts->name = agent_text(hsa, agent, HSA_AGENT_INFO_NAME);
  facts->uuid = agent_text(hsa, agent, HSA_AMD_AGENT_INFO_UUID);
  // What the runtime says of a device without one.
  if (facts->uuid == "GPU-XX") facts->uuid.clear();
  facts->pci_address = agent_pci_address(hsa, agent);
  HALYARD_ASSIGN_OR_RETURN(facts->target_id, parse_target_id(agent_target(hsa, agent)));
  facts->target = to_string(facts->target_id);
  DeviceInfo& figures = facts->figures;
  uint16_t workgroup[3] = {};
  hsa_dim3_t grid = {};
  uint32_t grid_size = 0;
  const auto get = [&](int what, auto* value) { get_agent_info(hsa, agent, what, value); };
  get(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &figures.compute_units);
  get(HSA_AGENT_INFO_WAVEFRONT_SIZE, &figures.wavefront_size);
  get(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, &figures.max_workgroup_size);
  get(HSA_AGENT_INFO_WORKGROUP_MAX_DIM, &workgroup);
  get(HSA_AGENT_INFO_GRID_MAX_DIM, &grid);
  get(HSA_AGENT_INFO_GRID_MAX_SIZE, &grid_size);
  get(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, &figures.max_clock_mhz);
  get(HSA_AGENT_INFO_QUEUE_MIN_SIZE, &facts->details.min_queue_packets);
  get(HSA_AGENT_INFO_QUEUE_MAX_SIZE, &facts->details.max_queue_packets);
  hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &figures.timestamp_hz);
  figures.max_workgroup = {workgroup[0], workgroup[1], workgroup[2]};
  figures.max_grid = {grid.x, grid.y, grid.z};
  figures.max_grid_size = grid_size;
  return {};
}

}  // namespace halyard
