"""Adds two vectors: open a device, load a file with kernels, launch one, read the result.

    python3 examples/python/vadd.py                          on the first AMD GPU
    HALYARD_VGPU=gfx90a python3 examples/python/vadd.py      on a virtual one
"""

# %% The device
import os
import pathlib

import halyard
import numpy as np

kernels = pathlib.Path(__file__).resolve().parents[2] / "cts" / "kernels"
device = halyard.open(os.environ.get("HALYARD_DEVICE", "amdgpu"), vgpu=os.environ.get("HALYARD_VGPU"))
print(device)

# %% The kernel, as its file describes it
vadd = device.load(kernels / "vadd_c_v6.hipfb")["vadd"]
for parameter in vadd.parameters:
    print(parameter)

# %% Launch it: grid and block count work-items
n = 1000
a = device.array(np.arange(n, dtype=np.float32))
b = device.array(np.full(n, 0.5, np.float32))
out = device.empty(n)
vadd[n, 256](a, b, out, n)  # returns at once

# %% Read the result
sums = out.download()  # waits
print(sums)
assert (sums == np.arange(n) + 0.5).all()
