// What the functions of halyard_vgpu.h share.
#pragma once

#define HALYARD_VGPU_API extern "C" __attribute__((visibility("default")))
