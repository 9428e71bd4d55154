"""Halyard beside other users of the same GPU: HIP's memory and streams in this process, and another
process with Halyard. HALYARD_DEVICE, HALYARD_VGPU and HALYARD_KERNELS as for test_halyard.py."""

import ctypes
import os
import subprocess
import sys
import unittest

import numpy as np

import halyard

DRIVER = os.environ["HALYARD_DEVICE"]
KERNELS = os.environ["HALYARD_KERNELS"]
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2  # of hipMemcpyKind


class Hip:
    """As much of HIP's runtime as the tests want."""

    def __init__(self):
        for name in ("libamdhip64.so.6", "libamdhip64.so.5"):
            try:
                self.library = ctypes.CDLL(name)
                return
            except OSError as error:
                missing = error
        raise unittest.SkipTest(f"libamdhip64-5 is not installed: {missing}")

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name} gives {result}.")

    def malloc(self, size):
        pointer = ctypes.c_void_p()
        self.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def stream(self):
        stream = ctypes.c_void_p()
        self.call("hipStreamCreate", ctypes.byref(stream))
        return stream

    def copy(self, target, source, size, kind, stream):
        self.call("hipMemcpyAsync", target, source, ctypes.c_size_t(size), kind, stream)


class HipInOneProcess(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The virtual GPU comes before anything that uses the vendor's runtime.
        cls.device = halyard.open(DRIVER, vgpu=os.environ["HALYARD_VGPU"])
        cls.hip = Hip()
        cls.vadd = cls.device.load(f"{KERNELS}/vadd_c_v6.hipfb")["vadd"]

    def test_hips_memory_and_stream(self):
        """HIP writes, Halyard's kernel adds, HIP reads: on one stream where the driver stands on
        HIP, and on a queue of Halyard's beside the stream otherwise."""
        n = 1000
        numbers = np.arange(n, dtype=np.float32)
        sums = np.zeros(n, np.float32)
        pointer, stream = self.hip.malloc(numbers.nbytes), self.hip.stream()
        values = self.device.from_pointer(pointer.value, n)
        self.assertEqual(values.address, pointer.value)
        shares_stream = self.device.info["imports_queues"]
        self.assertEqual(shares_stream, DRIVER == "hip")
        queue = self.device.import_queue(stream.value) if shares_stream else self.device.queue()

        self.hip.copy(pointer, numbers.ctypes.data_as(ctypes.c_void_p), numbers.nbytes,
                      HOST_TO_DEVICE, stream)
        if not shares_stream:
            self.hip.call("hipStreamSynchronize", stream)
        for _ in range(3):
            done = self.vadd[n, 256](values, values, values, n, queue=queue)
        if not shares_stream:
            done.wait()
        self.hip.copy(sums.ctypes.data_as(ctypes.c_void_p), pointer, numbers.nbytes,
                      DEVICE_TO_HOST, stream)
        self.hip.call("hipStreamSynchronize", stream)
        np.testing.assert_array_equal(sums, 8 * numbers)
        if shares_stream:  # In the other direction: HIP knows memory that its own driver allocates.
            own = self.device.array(numbers)
            self.hip.copy(sums.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(own.address),
                          numbers.nbytes, DEVICE_TO_HOST, stream)
            self.hip.call("hipStreamSynchronize", stream)
            np.testing.assert_array_equal(sums, numbers)
        done.wait()
        del values, queue
        self.hip.call("hipStreamDestroy", stream)
        self.hip.call("hipFree", pointer)

    def test_hips_memory_through_dlpack(self):
        """A tensor in ROCm's memory, as PyTorch hands it over, is an array without a copy."""
        own = self.device.array(np.arange(100, dtype=np.int64))
        capsule = own.__dlpack__()
        other = self.device.from_dlpack(capsule)
        self.assertEqual(other.address, own.address)
        other.fill(-1)
        self.assertTrue((own.download() == -1).all())
        with self.assertRaisesRegex(halyard.Error, "A capsule is used once"):
            self.device.from_dlpack(capsule)


CHILD = """
import os, sys
import halyard
device = halyard.open(os.environ["HALYARD_DEVICE"], vgpu=os.environ["HALYARD_VGPU"])
array = device.import_ipc(bytes.fromhex(sys.argv[1]), 1000)
vadd = device.load(os.environ["HALYARD_KERNELS"] + "/vadd_c_v6.hipfb")["vadd"]
vadd[1000, 256](array, array, array, 1000).wait()
"""


class TwoProcesses(unittest.TestCase):
    def test_device_memory_is_shared_by_ipc(self):
        device = halyard.open(DRIVER, vgpu=os.environ["HALYARD_VGPU"])
        array = device.array(np.arange(1000, dtype=np.float32))
        subprocess.run([sys.executable, "-c", CHILD, array.export_ipc().hex()], check=True)
        np.testing.assert_array_equal(array.download(), 2 * np.arange(1000, dtype=np.float32))

    def test_device_memory_is_shared_by_a_dmabuf(self):
        device = halyard.open(DRIVER, vgpu=os.environ["HALYARD_VGPU"])
        array = device.array(np.arange(1000, dtype=np.float32))
        try:
            dmabuf = array.export_dmabuf()
        except halyard.Error as error:
            self.assertEqual(error.code, halyard.Code.UNIMPLEMENTED)
            self.skipTest(error.message)
        child = CHILD.replace(
            "import_ipc(bytes.fromhex(sys.argv[1]), 1000)",
            "import_dmabuf(int(sys.argv[1]), 1000, offset=int(sys.argv[2]))",
        )
        words = [sys.executable, "-c", child, str(dmabuf.fd), str(dmabuf.offset)]
        subprocess.run(words, pass_fds=[dmabuf.fd], check=True)
        os.close(dmabuf.fd)
        np.testing.assert_array_equal(array.download(), 2 * np.arange(1000, dtype=np.float32))


if __name__ == "__main__":
    unittest.main(verbosity=1)
