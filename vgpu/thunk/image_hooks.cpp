#include "vgpu/thunk/image_hooks.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::thunk {

namespace {

// The functions that those below stand in for. Written once, before the runtime is used.
struct {
  decltype(hsa_agent_get_info)* agent_get_info = nullptr;
} real;

// Told once: a program that tries formats asks often. (HSA's own value for a format that is not
// supported lies outside of hsa_status_t's, as C++ counts.)
hsa_status_t refuse(const char* function) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    queue::report(
        fmt::format("halyard vgpu: {} fails (HSA_STATUS_ERROR): the virtual GPU "
                    "has no images, and its devices report none; use buffers (docs/virtual-gpu.md)",
                    function));
  }
  return HSA_STATUS_ERROR;
}

// How many 32-bit numbers an attribute of images is; 0 if it is none.
uint32_t image_numbers(hsa_agent_info_t attribute) {
  switch (static_cast<uint32_t>(attribute)) {
    case HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS:
      return 2;
    case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS:
      return 3;
    case HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
    case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
      return 1;
    default:
      return 0;
  }
}

hsa_status_t agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  const hsa_status_t status = real.agent_get_info(agent, attribute, value);
  if (status != HSA_STATUS_SUCCESS) return status;
  if (const uint32_t numbers = image_numbers(attribute)) {
    std::memset(value, 0, numbers * sizeof(uint32_t));
  } else if (attribute == HSA_AGENT_INFO_EXTENSIONS) {
    static_cast<uint8_t*>(value)[HSA_EXTENSION_IMAGES / 8] &=
        static_cast<uint8_t>(~(1u << HSA_EXTENSION_IMAGES % 8));
  }
  return status;
}

hsa_status_t get_capability(hsa_agent_t, hsa_ext_image_geometry_t, const hsa_ext_image_format_t*,
                            uint32_t* mask) {
  if (mask == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t get_capability_with_layout(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                        const hsa_ext_image_format_t* format,
                                        hsa_ext_image_data_layout_t, uint32_t* mask) {
  return get_capability(agent, geometry, format, mask);
}

hsa_status_t data_get_info(hsa_agent_t, const hsa_ext_image_descriptor_t*, hsa_access_permission_t,
                           hsa_ext_image_data_info_t*) {
  return refuse("hsa_ext_image_data_get_info");
}

hsa_status_t data_get_info_with_layout(hsa_agent_t, const hsa_ext_image_descriptor_t*,
                                       hsa_access_permission_t, hsa_ext_image_data_layout_t, size_t,
                                       size_t, hsa_ext_image_data_info_t*) {
  return refuse("hsa_ext_image_data_get_info_with_layout");
}

hsa_status_t create(hsa_agent_t, const hsa_ext_image_descriptor_t*, const void*,
                    hsa_access_permission_t, hsa_ext_image_t*) {
  return refuse("hsa_ext_image_create");
}

hsa_status_t create_with_layout(hsa_agent_t, const hsa_ext_image_descriptor_t*, const void*,
                                hsa_access_permission_t, hsa_ext_image_data_layout_t, size_t,
                                size_t, hsa_ext_image_t*) {
  return refuse("hsa_ext_image_create_with_layout");
}

hsa_status_t amd_create(hsa_agent_t, const hsa_ext_image_descriptor_t*,
                        const hsa_amd_image_descriptor_t*, const void*, hsa_access_permission_t,
                        hsa_ext_image_t*) {
  return refuse("hsa_amd_image_create");
}

}  // namespace

void hide_images(HsaApiTable& table) {
  real.agent_get_info = table.core_->hsa_agent_get_info_fn;
  table.core_->hsa_agent_get_info_fn = agent_get_info;
  table.amd_ext_->hsa_amd_image_create_fn = amd_create;
  ImageExtTable& images = *table.image_ext_;
  images.hsa_ext_image_get_capability_fn = get_capability;
  images.hsa_ext_image_get_capability_with_layout_fn = get_capability_with_layout;
  images.hsa_ext_image_data_get_info_fn = data_get_info;
  images.hsa_ext_image_data_get_info_with_layout_fn = data_get_info_with_layout;
  images.hsa_ext_image_create_fn = create;
  images.hsa_ext_image_create_with_layout_fn = create_with_layout;
}

}  // namespace halyard::vgpu::thunk
