// The driver and its entry point: what GPUs the runtime lists.
#include <vector>

#include "device.h"
#include "hal/contract/plugin.h"
#include "hal/error.h"
#include "plugins/sdk/hsa_agent.h"
#include "plugins/sdk/vendor_driver.h"

namespace halyard::skeleton {
namespace {

constexpr const char* kDescription = "A driver to clone: AMD GPUs, one HSA packet at a time";

Result<GpuFacts> describe(const Hsa& hsa, hsa_agent_t agent) {
  GpuFacts facts;
  HALYARD_RETURN_IF_ERROR(describe_agent(hsa, agent, &facts));
  facts.agent = agent;
  const std::vector<Pool> pools = list_pools(hsa, agent, &facts.figures.lds_bytes);
  for (const Pool& pool : pools)
    facts.figures.memory_bytes = std::max(facts.figures.memory_bytes, pool.info.size);
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
