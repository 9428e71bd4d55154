"""Two queues, a semaphore and a Python function: what waits for what is said, nothing is guessed.

One queue computes the Mandelbrot set in tiles; the other copies each tile to the host while the
next one is computed; a Python function hears of each tile that has arrived.
"""

# %%
import os
import pathlib

import halyard
import numpy as np

kernels = pathlib.Path(__file__).resolve().parents[2] / "cts" / "kernels"
device = halyard.open(os.environ.get("HALYARD_DEVICE", "amdgpu"), vgpu=os.environ.get("HALYARD_VGPU"))
mandelbrot = device.load(kernels / "mandelbrot.hipfb")["mandelbrot"]

# %% Tiles of 64 × 16 pixels, from the top to the bottom
width, height, tiles, step = 64, 16, 3, 3.0 / 64
compute, copies = device.queue(), device.queue()
image = [device.empty((height, width), np.uint32, memory="host") for _ in range(tiles)]
arrived = []
last = None
for i in range(tiles):
    tile = device.empty((height, width), np.uint32)
    top = 1.125 - i * height * step
    done = mandelbrot[(width, height), (16, 16)](
        tile, width, height, -2.2, top, step, 64, queue=compute
    )
    image[i].copy_from(tile, queue=copies, after=[done])  # the tile's memory lives until then
    last = copies.call(lambda i=i: arrived.append(i))

# %% The only wait
last.wait()
assert arrived == [0, 1, 2]
pixels = np.vstack([np.asarray(tile) for tile in image])
for row in pixels[::2]:
    print("".join(" .:-=+*#%@"[min(9, value // 7)] for value in row))
assert pixels.max() == 64 and pixels.min() < 3
