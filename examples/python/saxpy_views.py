"""y = a·x + y on memory that NumPy and the device share: no copy anywhere.

An array in host memory is a NumPy array, and a NumPy array becomes an array of the device's. Such
memory is slower for kernels than the device's own, as every access crosses the link.
"""

# %%
import os
import pathlib

import halyard
import numpy as np

kernels = pathlib.Path(__file__).resolve().parents[2] / "cts" / "kernels"
device = halyard.open(os.environ.get("HALYARD_DEVICE", "amdgpu"), vgpu=os.environ.get("HALYARD_VGPU"))
saxpy = device.load(kernels / "saxpy.hipfb")["saxpy"]

# %% Halyard's memory, seen by NumPy
n = 4096
x = device.empty(n, np.float32, memory="host")
np.asarray(x)[:] = np.linspace(0, 1, n)

# %% NumPy's memory, seen by the device
y = np.ones(n, np.float32)
shared = device.from_dlpack(y)
assert shared.host_address == y.ctypes.data

# %% The kernel has written into y when the future is done
saxpy[n, 256](n, 2.0, x, shared).wait()
print(y)
np.testing.assert_allclose(y, 2 * np.linspace(0, 1, n) + 1, rtol=1e-6)

# %% And to any other library that takes DLPack
assert np.from_dlpack(x).ctypes.data == x.host_address
