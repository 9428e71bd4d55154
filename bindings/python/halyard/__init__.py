"""Halyard: AMD GPUs, real and virtual, from Python.

    import halyard, numpy as np
    device = halyard.open("amdgpu", vgpu="gfx90a")    # without vgpu: this machine's GPU
    vadd = device.load("vadd.hipfb")["vadd"]
    a, b = device.array(np.arange(1000, dtype=np.float32)), device.empty(1000)
    vadd[1000, 256](a, a, b, 1000)
    print(b.download())

Nothing copies or waits unless its documentation says so. Failures raise halyard.Error.
"""

import atexit

from . import _core
from ._array import Array, Dmabuf
from ._core import Future, Lds, Semaphore
from ._device import (
    Device,
    Pool,
    Profile,
    ProfileEvent,
    drivers,
    load_report,
    load_virtual_gpu,
    open,
)
from ._errors import Code, DeadlineExceeded, Error, OutOfMemory, WrongType
from ._kernel import Kernel, Module, Parameter
from ._queue import Queue
from ._struct import Struct
from ._values import DeviceAddress

__all__ = [
    "Array",
    "Code",
    "DeadlineExceeded",
    "Device",
    "DeviceAddress",
    "Dmabuf",
    "Error",
    "Future",
    "Kernel",
    "Lds",
    "Module",
    "OutOfMemory",
    "Parameter",
    "Pool",
    "Profile",
    "ProfileEvent",
    "Queue",
    "Semaphore",
    "Struct",
    "WrongType",
    "drivers",
    "load_report",
    "load_virtual_gpu",
    "open",
]

# No function of Queue.call begins while the interpreter ends.
atexit.register(_core.end)
