"""Times the work of a program, prints it as a table, and plots it as a picture.

    python3 examples/python/profile_plot.py profile.png

The picture has a line for each kind of operation, from the first begin to the last end, and beside
it how long each kind took in all. Needs matplotlib (Debian: python3-matplotlib).
"""

# %% Some work: two kernels that depend on each other, fills and copies
import os
import pathlib
import sys

import halyard
import matplotlib.pyplot as plt
import numpy as np

kernels = pathlib.Path(__file__).resolve().parents[2] / "cts" / "kernels"
device = halyard.open(os.environ.get("HALYARD_DEVICE", "amdgpu"), vgpu=os.environ.get("HALYARD_VGPU"))
vadd = device.load(kernels / "vadd_c_v6.hipfb")["vadd"]
mandelbrot = device.load(kernels / "mandelbrot.hipfb")["mandelbrot"]
n = 1 << 12
a, b, out = device.zeros(n), device.zeros(n), device.empty(n)
image = device.empty((32, 64), np.uint32)
host = device.empty((32, 64), np.uint32, memory="host")


def work(rounds):
    for i in range(rounds):
        a.fill(i)
        vadd[n, 256](a, b, out, n)
        b.copy_from(out)
        mandelbrot[(64, 32), (16, 16)](image, 64, 32, -2.2, 1.1, 0.05, 20 + 20 * i)
        host.copy_from(image)


work(1)  # the first launch of a kernel is slower
device.default_queue.wait()
with device.profile() as profile:
    work(6)

# %% As a table
totals = profile.totals()
names = sorted(totals, key=totals.get, reverse=True)
for name in names:
    count = sum(event.name == name for event in profile.events)
    print(f"{name:20} {count:4} × {totals[name] / count / 1000:10.1f} µs")
assert "vadd" in totals and "mandelbrot" in totals

# %% As a picture
begin = min(event.begin_ns for event in profile.events)
figure, (timeline, bars) = plt.subplots(
    1, 2, figsize=(11, 0.6 * len(names) + 1.8), width_ratios=[3, 1], sharey=True
)
for row, name in enumerate(names):
    spans = [
        ((event.begin_ns - begin) / 1000, event.duration_ns / 1000)
        for event in profile.events
        if event.name == name
    ]
    timeline.broken_barh(spans, (row - 0.35, 0.7), color=f"C{row}")
    bars.barh(row, totals[name] / 1000, height=0.7, color=f"C{row}")
timeline.set_yticks(range(len(names)), names)
timeline.invert_yaxis()
timeline.set_xlabel("µs since the first operation")
bars.set_xlabel("µs in all")
timeline.set_title(f"{device.name} ({device.target})", loc="left")
for axes in (timeline, bars):
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
figure.tight_layout()
path = sys.argv[1] if len(sys.argv) > 1 else "profile.png"
figure.savefig(path, dpi=150)
print(path)
