#include "vgpu/machine/image_hooks.h"

#include <fmt/format.h>

#include <atomic>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::machine {

namespace {

// Reported once, because programs that try formats ask often. (HSA's own value for an unsupported
// format is outside the C++ range of hsa_status_t.)
hsa_status_t refuse(const char* function) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    queue::report(
        fmt::format("halyard vgpu: {} fails (HSA_STATUS_ERROR): the virtual GPU "
                    "has no images; use buffers (docs/virtual-gpu.md)",
                    function));
  }
  return HSA_STATUS_ERROR;
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
  functions_behind_copy(table).hsa_amd_image_create_fn = amd_create;
  ImageExtTable& images = *table.image_ext_;
  images.hsa_ext_image_get_capability_fn = get_capability;
  images.hsa_ext_image_get_capability_with_layout_fn = get_capability_with_layout;
  images.hsa_ext_image_data_get_info_fn = data_get_info;
  images.hsa_ext_image_data_get_info_with_layout_fn = data_get_info_with_layout;
  images.hsa_ext_image_create_fn = create;
  images.hsa_ext_image_create_with_layout_fn = create_with_layout;
}

}  // namespace halyard::vgpu::machine
