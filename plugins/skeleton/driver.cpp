// The driver and its entry point: what GPUs the runtime lists.
#include <vector>

#include "device.h"
#include "drivers/common/hsa_agent.h"
#include "drivers/common/vendor_driver.h"
#include "hal/error.h"
#include "hal/target_id.h"
#include "plugins/plugin.h"

namespace halyard::skeleton {
namespace {

constexpr const char* kDescription = "A driver to clone: AMD GPUs, one HSA packet at a time";

Result<GpuFacts> describe(const Hsa& hsa, hsa_agent_t agent) {
  GpuFacts facts;
  facts.agent = agent;
  facts.name = agent_text(hsa, agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
  if (facts.name.empty()) facts.name = agent_text(hsa, agent, HSA_AGENT_INFO_NAME);
  facts.uuid = agent_text(hsa, agent, HSA_AMD_AGENT_INFO_UUID);
  if (facts.uuid == "GPU-XX") facts.uuid.clear();  // it has none
  facts.pci_address = agent_pci_address(hsa, agent);
  HALYARD_ASSIGN_OR_RETURN(facts.target_id, parse_target_id(agent_target(hsa, agent)));
  facts.target = to_string(facts.target_id);
  DeviceInfo& figures = facts.figures;
  uint16_t workgroup[3] = {};
  hsa_dim3_t grid = {};
  uint32_t grid_size = 0;
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &figures.compute_units);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, &figures.wavefront_size);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, &figures.max_workgroup_size);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, &workgroup);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_GRID_MAX_DIM, &grid);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_GRID_MAX_SIZE, &grid_size);
  get_agent_info(hsa, agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, &figures.max_clock_mhz);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &facts.details.min_queue_packets);
  get_agent_info(hsa, agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &facts.details.max_queue_packets);
  hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &figures.timestamp_hz);
  figures.max_workgroup = {workgroup[0], workgroup[1], workgroup[2]};
  figures.max_grid = {grid.x, grid.y, grid.z};
  figures.max_grid_size = grid_size;
  const std::vector<Pool> pools = list_pools(hsa, agent, &figures.lds_bytes);
  for (const Pool& pool : pools)
    figures.memory_bytes = std::max(figures.memory_bytes, pool.info.size);
  return facts;
}

class DriverImpl final : public VendorDriver {
 public:
  static Status create(Span<const Option> options, Driver** driver) {
    HALYARD_ASSIGN_OR_RETURN(const std::string_view path,
                             library_path(kName, Hsa::library(), options));
    HALYARD_ASSIGN_OR_RETURN(Hsa* const hsa, VendorRuntime::load<Hsa>(path));
    *driver = new DriverImpl(*hsa);
    return {};
  }

 private:
  explicit DriverImpl(Hsa& hsa) : VendorDriver(kName, kDescription, hsa), hsa_(hsa) {}
  ~DriverImpl() = default;
  void destroy() noexcept override { delete this; }

  Status list_devices(std::vector<DeviceSummary>* devices) override {
    std::pair<const Hsa&, std::vector<hsa_agent_t>> agents{hsa_, {}};
    const auto visit = [](hsa_agent_t agent, void* data) {
      static_cast<decltype(agents)*>(data)->second.push_back(agent);
      return HSA_STATUS_SUCCESS;
    };
    HALYARD_RETURN_IF_ERROR(
        hsa_.check(hsa_.hsa_iterate_agents(visit, &agents), "Listing the HSA agents"));
    for (const hsa_agent_t agent : agents.second) {
      hsa_device_type_t type = HSA_DEVICE_TYPE_DSP;
      get_agent_info(hsa_, agent, HSA_AGENT_INFO_DEVICE, &type);
      if (type == HSA_DEVICE_TYPE_CPU && host_.handle == 0) host_ = agent;
      if (type != HSA_DEVICE_TYPE_GPU) continue;
      HALYARD_ASSIGN_OR_RETURN(GpuFacts facts, describe(hsa_, agent));
      gpus_.push_back(std::move(facts));
    }
    for (const GpuFacts& gpu : gpus_) devices->push_back(gpu.summary());
    return {};
  }
  Result<Ref<Device>> open_device(uint32_t ordinal, const DeviceOptions& options) override {
    return DeviceImpl::create(*this, hsa_, host_, gpus_[ordinal], options);
  }

  Hsa& hsa_;
  hsa_agent_t host_ = {};
  std::vector<GpuFacts> gpus_;
};

}  // namespace
}  // namespace halyard::skeleton

HALYARD_PLUGIN(halyard::skeleton::kName, "0.1.0", halyard::skeleton::kDescription,
               &halyard::skeleton::DriverImpl::create)
