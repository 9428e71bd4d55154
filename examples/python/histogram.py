"""Counts the bytes of a text, with atomics in LDS and in memory, and draws the result as text."""

# %%
import os
import pathlib

import halyard
import numpy as np

kernels = pathlib.Path(__file__).resolve().parents[2] / "cts" / "kernels"
device = halyard.open(os.environ.get("HALYARD_DEVICE", "amdgpu"), vgpu=os.environ.get("HALYARD_VGPU"))
histogram = device.load(kernels / "histogram.hipfb")["histogram"]

# %% A kernel that needs zeros gets them from the queue, in order
text = np.frombuffer(pathlib.Path(__file__).read_bytes(), np.uint8)
letters = device.array(text)
bins = device.empty(256, np.uint32)
bins.fill(0)
histogram[1024, 256](letters, text.size, bins)
counts = bins.download()

# %%
assert (counts == np.bincount(text, minlength=256)).all()
for byte in np.argsort(counts)[::-1][:10]:
    print(f"{chr(byte)!r:6} {'#' * (60 * counts[byte] // counts.max())} {counts[byte]}")
