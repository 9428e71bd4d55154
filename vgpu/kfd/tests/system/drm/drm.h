// Stands in for libdrm-dev's header, of which <linux/kfd_ioctl.h> needs the types only.
#pragma once

#include <linux/types.h>
