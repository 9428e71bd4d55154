"""The package halyard on one device: HALYARD_DEVICE and HALYARD_VGPU name it, HALYARD_KERNELS is the
folder with the suite's kernels."""

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
import weakref

import numpy as np

import halyard
from halyard import Code

KERNELS = os.environ["HALYARD_KERNELS"]
DRIVER = os.environ["HALYARD_DEVICE"]
DEVICE = None


def setUpModule():
    global DEVICE
    DEVICE = halyard.open(DRIVER, vgpu=os.environ["HALYARD_VGPU"])


def kernels(name):
    return DEVICE.load(f"{KERNELS}/{name}.hipfb")


class Base(unittest.TestCase):
    def assertFails(self, code, words):
        case = self

        class Context:
            def __enter__(self):
                return self

            def __exit__(self, kind, value, traceback):
                case.assertIsNotNone(value, "no error")
                if not isinstance(value, halyard.Error):
                    return False
                case.assertEqual(value.code, code, value)
                case.assertIn(words, value.message)
                self.error = value
                return True

        return Context()


class Launches(Base):
    def test_five_lines(self):
        vadd = kernels("vadd_c_v6")["vadd"]
        a, b = DEVICE.array(np.arange(1000, dtype=np.float32)), DEVICE.empty(1000)
        vadd[1000, 256](a, a, b, 1000)
        np.testing.assert_array_equal(b.download(), 2 * np.arange(1000, dtype=np.float32))

    def test_scalars_take_the_kernels_types(self):
        module = kernels("mandelbrot")
        out = DEVICE.zeros((8, 16), np.uint32)
        # OpenCL's metadata says which are floats: an int will do for one.
        module.mandelbrot[(16, 8), (8, 8)](out, 16, 8, -2, 1.0, np.float32(0.25), 50)
        rows = out.download()
        expected = np.zeros_like(rows)
        for y in range(8):
            for x in range(16):
                cr, ci = np.float32(-2 + 0.25 * x), np.float32(1 - 0.25 * y)
                zr = zi = np.float32(0)
                n = 0
                while n < 50 and zr * zr + zi * zi <= 4:
                    zr, zi, n = zr * zr - zi * zi + cr, (zr + zr) * zi + ci, n + 1
                expected[y, x] = n
        np.testing.assert_array_equal(rows, expected)
        with self.assertFails(Code.INVALID_ARGUMENT, "uint) of kernel"):
            module.mandelbrot[(16, 8), (8, 8)](out, 16.0, 8, -2, 1, 0.25, 50)
        parameters = module.mandelbrot.parameters
        self.assertEqual([p.type_name for p in parameters[:4]], ["uint*", "uint", "uint", "float"])
        self.assertEqual(parameters[0].size, 8)

    def test_structs_are_bytes(self):
        class Nested(ctypes.Structure):
            _fields_ = [("first", ctypes.c_uint8), ("count", ctypes.c_uint32)]

        class Shape(ctypes.Structure):
            _fields_ = [
                ("tag", ctypes.c_uint8),
                ("rows", ctypes.c_uint16),
                ("columns", ctypes.c_uint32),
                ("stride", ctypes.c_uint64),
                ("scale", ctypes.c_float),
                ("bias", ctypes.c_double),
                ("nested", Nested * 2),
            ]

        shape = Shape(1, 1, 2, 2, 2.0, 0.5, (Nested * 2)(Nested(3, 0), Nested(3, 0)))
        kernel = kernels("struct_arg")["apply_shape"]
        for given in (shape, bytes(shape), np.frombuffer(bytes(shape), np.uint8)):
            out = DEVICE.zeros(2, np.float64)
            kernel[64, 64](4, given, 5, out)
            np.testing.assert_array_equal(out.download(), [26.5, 26.5])
        with self.assertFails(Code.INVALID_ARGUMENT, "is a value of 48 bytes; the launch gives 47"):
            kernel[64, 64](4, bytes(shape)[:47], 5, out)

    def test_pointers(self):
        out = DEVICE.array(np.full(2, 7, np.uint32), memory="host")
        kernels("pointers")["walk"][1, 1](None, out).wait()
        np.testing.assert_array_equal(np.asarray(out), [0, 0])
        load = kernels("faults")["load_from"]
        gate = DEVICE.semaphore()
        target = DEVICE.array(np.array([1234], np.uint32))
        done = load[1, 1](halyard.Struct(target), out, after=[gate.at(1)])
        del target
        gate.signal(1)
        done.wait()
        self.assertEqual(np.asarray(out)[0], 1234)
        inner = halyard.Struct(np.uint8(1), np.int64(-1))
        outer = halyard.Struct(np.uint8(2), None, inner, np.array([3, 4], np.uint16))
        self.assertEqual(
            outer.data,
            bytes([2] + [0] * 15 + [1] + [0] * 7 + [255] * 8 + [3, 0, 4, 0] + [0] * 4),
        )
        with self.assertFails(Code.INVALID_ARGUMENT, "Struct of 16 bytes"):
            load[1, 1](inner, out)
        with self.assertFails(Code.INVALID_ARGUMENT, "Field 1 of a Struct is 5 (int)"):
            halyard.Struct(out, 5)
        with self.assertFails(Code.INVALID_ARGUMENT, "at least one field"):
            halyard.Struct()

    def test_lds(self):
        values = DEVICE.array(np.arange(64, dtype=np.uint32), memory="host")
        out = DEVICE.empty(64, np.uint32, memory="host")
        kernel = kernels("dynamic_lds_cl")["dynamic_lds"]
        kernel[64, 64](values, out, halyard.Lds(256), halyard.Lds(512)).wait()
        self.assertEqual(np.asarray(out)[10], 53 + 52)
        with self.assertFails(Code.INVALID_ARGUMENT, "is Lds; the launch gives 256 (int)."):
            kernel[64, 64](values, out, 256, 512)

    def test_what_does_not_fit_is_refused(self):
        vadd = kernels("vadd_c_v6")["vadd"]
        a = DEVICE.empty(64)
        with self.assertFails(Code.INVALID_ARGUMENT, "takes 4 arguments; the launch gives 3."):
            vadd[64, 64](a, a, a)
        with self.assertFails(Code.INVALID_ARGUMENT, "a NumPy int64 of 8 bytes."):
            vadd[64, 64](a, a, a, np.int64(64))
        with self.assertFails(Code.INVALID_ARGUMENT, "the launch gives 4294967296 (int)."):
            vadd[64, 64](a, a, a, 1 << 32)
        with self.assertFails(Code.INVALID_ARGUMENT, "; the launch gives an Array."):
            vadd[64, 64](a, a, a, a)
        with self.assertFails(Code.INVALID_ARGUMENT, "an Array, a DeviceAddress or None"):
            vadd[64, 64](a, 1.5, a, 64)
        with self.assertFails(Code.INVALID_ARGUMENT, "vadd[grid, block](…)"):
            vadd[64]
        with self.assertFails(Code.INVALID_ARGUMENT, "one to three numbers"):
            vadd[(1, 2, 3, 4), 64]
        with self.assertFails(Code.INVALID_ARGUMENT, "Legal are 0 to 4294967295"):
            vadd[1 << 32, 64](a, a, a, 64)
        with self.assertFails(Code.INVALID_ARGUMENT, ""):
            vadd[64, 2048](a, a, a, 64)
        DEVICE.default_queue.wait()
        DEVICE.default_queue.fault()

    def test_modules(self):
        with open(f"{KERNELS}/vadd_c_v6.hipfb", "rb") as file:
            module = DEVICE.load(file.read())
        self.assertEqual(module.names, ["vadd"])
        self.assertEqual(module.vadd.name, "vadd")
        self.assertEqual(module.code_object_version, 6)
        self.assertIn("gfx9", module.target)
        self.assertGreater(module.vadd.info["vgpr_count"], 0)
        with self.assertFails(Code.NOT_FOUND, "vadd"):
            module["vad"]
        with self.assertRaises(AttributeError):
            module.vad
        with self.assertFails(Code.NOT_FOUND, "/nosuch"):
            DEVICE.load("/nosuch")
        with self.assertFails(Code.INVALID_ARGUMENT, ""):
            DEVICE.load(b"nonsense")

    def test_global_variables(self):
        module = kernels("global")
        address, size = module.global_variable("global_input")
        self.assertEqual(size, 16)
        kernels("busy").affine[64, 64](address, 4, 2, 1)  # 10, 20, 30, 40 become 21, 41, 61, 81
        out = DEVICE.empty(4, np.uint32)
        module.use_globals[64, 64](out, 0)
        np.testing.assert_array_equal(out.download(), [21, 42, 65, 90])
        with self.assertFails(Code.NOT_FOUND, "nosuch"):
            module.global_variable("nosuch")


class Arrays(Base):
    def test_device_memory(self):
        array = DEVICE.empty((3, 4), np.int16)
        self.assertEqual((array.shape, array.ndim, array.size, array.nbytes), ((3, 4), 2, 12, 24))
        self.assertEqual((array.memory, array.on_host, len(array)), ("device", False, 3))
        self.assertIn("int16", repr(array))
        array.upload(np.arange(12).reshape(3, 4))
        np.testing.assert_array_equal(array.download(), np.arange(12).reshape(3, 4))
        out = np.empty((3, 4), np.int64)
        self.assertIs(array.download(out), out)
        self.assertEqual(out[2, 3], 11)
        array.fill(7)
        other = DEVICE.zeros((3, 4), np.int16)
        other.copy_from(array)
        self.assertTrue((other.download() == 7).all())
        self.assertFalse(hasattr(array, "__array_interface__"))
        with self.assertRaisesRegex(BufferError, "call download"):
            memoryview(array)
        with self.assertFails(Code.FAILED_PRECONDITION, "call download()"):
            np.asarray(array)
        with self.assertFails(Code.INVALID_ARGUMENT, "is given data of shape (12,)"):
            array.upload(np.arange(12))
        with self.assertFails(Code.INVALID_ARGUMENT, "is given one of 4 bytes"):
            array.copy_from(DEVICE.empty(1))
        with self.assertFails(Code.INVALID_ARGUMENT, "into one of shape (12,)"):
            array.download(np.empty(12))

    def test_host_memory_is_shared_with_numpy(self):
        array = DEVICE.empty((2, 3), np.float64, memory="host")
        view = np.asarray(array)
        self.assertEqual(view.shape, (2, 3))
        self.assertEqual(view.__array_interface__["data"][0], array.host_address)
        view[:] = 4
        array.fill(5.5).wait()
        self.assertTrue((view == 5.5).all())
        mem = memoryview(array)
        self.assertEqual((mem.format, mem.shape, mem.strides), ("d", (2, 3), (24, 8)))
        mem[1, 2] = 8.0
        self.assertEqual(view[1, 2], 8.0)
        self.assertEqual(bytes(array)[:8], np.float64(5.5).tobytes())
        numbers = array.numpy()
        del array, mem, view
        gc.collect()
        self.assertEqual(numbers[1, 2], 8.0)  # the view keeps the memory

    def test_dtypes(self):
        for dtype in ("bool", "i1", "u2", "f2", "f4", "c8", "u8", "S3", [("x", "i4"), ("y", "f8")]):
            data = np.zeros(5, dtype)
            for memory in ("device", "host"):
                array = DEVICE.array(data, memory=memory)
                self.assertEqual(array.dtype, np.dtype(dtype))
                np.testing.assert_array_equal(array.download(), data)
        with self.assertFails(Code.INVALID_ARGUMENT, "Python objects"):
            DEVICE.empty(3, object)

    def test_what_cannot_be_allocated(self):
        with self.assertFails(Code.INVALID_ARGUMENT, "has 0 bytes"):
            DEVICE.empty(0)
        with self.assertFails(Code.INVALID_ARGUMENT, 'memory type ("vram") does not exist'):
            DEVICE.empty(1, memory="vram")
        with self.assertFails(Code.RESOURCE_EXHAUSTED, "") as failed:
            DEVICE.empty(1 << 50, np.uint8)
        self.assertIsInstance(failed.error, halyard.OutOfMemory)
        self.assertIsInstance(failed.error, MemoryError)
        with self.assertFails(Code.INVALID_ARGUMENT, ""):
            DEVICE.empty((1 << 40, 1 << 40))

    def test_managed_memory(self):
        if not DEVICE.info["managed_memory"]:
            with self.assertRaisesRegex(halyard.Error, "managed_memory is false"):
                DEVICE.empty(10, memory="managed")
            return
        array = DEVICE.empty(1000, np.uint32, memory="managed")
        array.advise("prefer device")
        array.prefetch().wait()
        array.fill(7).wait()
        array.prefetch("host").wait()
        self.assertTrue((np.asarray(array) == 7).all())
        with self.assertRaisesRegex(halyard.Error, "moon"):
            array.prefetch("moon")
        with self.assertRaisesRegex(halyard.Error, "moon"):
            array.advise("moon")

    def test_memory_is_given_back(self):
        def live():
            return sum(heap["live_bytes"] for heap in DEVICE.heap_statistics())

        DEVICE.default_queue.wait()
        gc.collect()
        before = live()
        array = DEVICE.empty(1 << 20, np.uint8)
        self.assertEqual(live(), before + (1 << 20))
        del array
        self.assertEqual(live(), before)

    def test_dlpack_to_numpy(self):
        array = DEVICE.array(np.arange(6, dtype=np.int32).reshape(2, 3), memory="host")
        self.assertEqual(array.__dlpack_device__(), (1, 0))
        view = np.from_dlpack(array)
        self.assertEqual(view.ctypes.data, array.host_address)
        address = array.host_address
        del array
        gc.collect()
        np.testing.assert_array_equal(view, np.arange(6).reshape(2, 3))
        self.assertEqual(view.ctypes.data, address)
        # A capsule that nobody takes.
        other = DEVICE.empty(4, memory="host")
        gone = weakref.ref(other)
        capsule = other.__dlpack__()
        del other
        gc.collect()
        self.assertIsNotNone(gone())
        del capsule
        gc.collect()
        self.assertIsNone(gone())
        with self.assertRaises(BufferError):
            DEVICE.empty(4, "S3", memory="host").__dlpack__()

    def test_dlpack_from_numpy(self):
        source = np.arange(1000, dtype=np.float32)
        array = DEVICE.from_dlpack(source)
        self.assertEqual(array.host_address, source.ctypes.data)
        self.assertEqual((array.shape, array.dtype), ((1000,), np.float32))
        kernels("vadd_c_v6").vadd[1000, 256](array, array, array, 1000).wait()
        np.testing.assert_array_equal(source, 2 * np.arange(1000, dtype=np.float32))
        with self.assertFails(Code.UNIMPLEMENTED, "contiguous copy"):
            DEVICE.from_dlpack(source[::2])
        # Of the device: the same memory again.
        first = DEVICE.array(np.arange(8, dtype=np.uint16))
        self.assertEqual(first.__dlpack_device__()[0], 10)
        second = DEVICE.from_dlpack(first)
        self.assertEqual(second.address, first.address)
        self.assertEqual(second.dtype, np.uint16)
        second.fill(3)
        self.assertTrue((first.download() == 3).all())

    def test_imported_memory_lives_as_long_as_its_work(self):
        gate = DEVICE.semaphore()
        queue = DEVICE.queue()
        source = np.zeros(1000, dtype=np.uint32)
        owner = weakref.ref(source)
        array = DEVICE.from_dlpack(source)
        queue.after(gate.at(1))
        done = array.fill(9, queue=queue)
        del source, array
        gc.collect()
        self.assertIsNotNone(owner())
        gate.signal(1)
        done.wait()
        DEVICE.default_queue.wait()  # whatever is over is let go of
        gc.collect()
        self.assertIsNone(owner())

    def test_ipc_handles(self):
        array = DEVICE.empty(1024)
        self.assertEqual(len(array.export_ipc()), 64)
        with self.assertFails(Code.FAILED_PRECONDITION, ""):
            DEVICE.empty(16, memory="host").export_ipc()
        with self.assertFails(Code.INVALID_ARGUMENT, "has 3 bytes"):
            DEVICE.import_ipc(b"abc", 16)

    def test_dmabufs(self):
        with self.assertFails(Code.INVALID_ARGUMENT, "a descriptor (-1) that is not open"):
            DEVICE.import_dmabuf(-1, 16)
        array = DEVICE.array(np.arange(2048, dtype=np.uint32))
        try:
            dmabuf = array.export_dmabuf()
        except halyard.Error as error:
            self.assertEqual(error.code, Code.UNIMPLEMENTED)
            self.skipTest(error.message)
        with self.assertFails(Code.FAILED_PRECONDITION, ""):
            DEVICE.empty(16, memory="host").export_dmabuf()
        with self.assertFails(Code.OUT_OF_RANGE, "of a dma-buf"):
            DEVICE.import_dmabuf(dmabuf.fd, 1 << 40)
        self.assertFalse(os.get_inheritable(dmabuf.fd))
        whole = DEVICE.import_dmabuf(dmabuf.fd, (2, 1024), np.uint32, offset=dmabuf.offset)
        half = DEVICE.import_dmabuf(dmabuf.fd, 1024, np.uint32, offset=dmabuf.offset + 4096)
        os.close(dmabuf.fd)
        half.fill(7).wait()
        np.testing.assert_array_equal(whole.download()[1], np.full(1024, 7))
        np.testing.assert_array_equal(array.download()[:1024], np.arange(1024))
        self.assertEqual(array.download()[2047], 7)


class Queues(Base):
    def test_futures(self):
        gate = DEVICE.semaphore(2)
        self.assertEqual(gate.value, 2)
        first, second = DEVICE.queue("high"), DEVICE.queue("low")
        held = first.after(gate.at(3))
        array = DEVICE.zeros(4, np.uint32, memory="host")
        filled = array.fill(6, queue=second, after=[held])
        self.assertFalse(held.done)
        self.assertFalse(filled.done)
        with self.assertRaises(halyard.DeadlineExceeded) as raised:
            filled.wait(0.001)
        self.assertIsInstance(raised.exception, TimeoutError)
        with self.assertRaises(TimeoutError):
            first.wait(timeout=0)
        gate.signal(3)
        filled.wait(timeout=100)
        self.assertTrue(held.done and filled.done)
        self.assertTrue((np.asarray(array) == 6).all())
        second.future().wait()
        gate.wait(3)
        with self.assertFails(Code.INVALID_ARGUMENT, 'priority ("urgent")'):
            DEVICE.queue("urgent")

    def test_waiting_lets_other_threads_run(self):
        gate = DEVICE.semaphore()
        timer = threading.Thread(target=gate.signal, args=(1,))
        waiter_ready = []

        def late():
            while not waiter_ready:
                time.sleep(0.001)
            timer.start()

        helper = threading.Thread(target=late)
        helper.start()
        waiter_ready.append(True)
        gate.wait(1)  # with the GIL held this would never end
        helper.join()
        timer.join()

    def test_host_functions(self):
        queue = DEVICE.queue()
        calls = []
        queue.call(lambda: calls.append(threading.get_ident()))
        queue.wait()
        self.assertEqual(len(calls), 1)
        self.assertNotEqual(calls[0], threading.get_ident())

        def fails():
            raise ValueError("the host's file is torn")

        failing = queue.call(fails)
        with self.assertFails(Code.UNKNOWN, "ValueError: the host's file is torn"):
            failing.wait()
        self.assertTrue(failing.done)
        # Not called when a wait has failed, and let go of.
        gate = DEVICE.semaphore()
        gate.fail("given up")

        class Function:
            def __call__(self):
                calls.append(0)

        function = Function()
        gone = weakref.ref(function)
        skipped = DEVICE.queue().call(function, after=[gate.at(1)])
        del function
        with self.assertFails(Code.ABORTED, "given up"):
            skipped.wait()
        DEVICE.default_queue.wait()
        self.assertIsNone(gone())
        self.assertEqual(len(calls), 1)

    def test_abandon(self):
        queue = DEVICE.queue()
        gate = DEVICE.semaphore()
        held = queue.after(gate.at(1))
        queue.fault()
        queue.abandon()
        with self.assertFails(Code.CANCELLED, ""):
            held.wait()
        with self.assertFails(Code.CANCELLED, ""):
            queue.fault()
        DEVICE.fault()

    def test_the_vendors_queue(self):
        queue = DEVICE.queue()
        self.assertNotEqual(queue.native_handle, 0)
        if DEVICE.info["imports_queues"]:
            imported = DEVICE.import_queue(queue.native_handle)
            array = DEVICE.empty(4, np.uint8, memory="host")
            array.fill(1, queue=imported).wait()
            self.assertEqual(bytes(array), b"\1\1\1\1")
        else:
            with self.assertFails(Code.FAILED_PRECONDITION, "import"):
                DEVICE.import_queue(queue.native_handle)

    def test_profiles_are_data(self):
        vadd = kernels("vadd_c_v6").vadd
        array = DEVICE.zeros(256)
        with DEVICE.profile() as profile:
            for _ in range(3):
                vadd[256, 256](array, array, array, 256)
        launches = [event for event in profile.events if event.name == "vadd"]
        self.assertEqual(len(launches), 3)
        for event in launches:
            self.assertGreaterEqual(event.duration_ns, 0)
        self.assertEqual(profile.totals()["vadd"], sum(e.duration_ns for e in launches))
        with self.assertRaises(KeyError):
            with DEVICE.profile():
                raise KeyError("the block's own")
        with DEVICE.profile() as profile:
            pass
        self.assertEqual(profile.events, [])


    def test_profiles_say_what_each_operation_was(self):
        vadd = kernels("vadd_c_v6").vadd
        array = DEVICE.zeros(256)
        queue = DEVICE.queue()
        with DEVICE.profile(["dispatch", "fill"]) as profile:
            array.fill(1, queue=queue)
            vadd[256, 64](array, array, array, 256, queue=queue)
            queue.wait()
        self.assertEqual([event.kind for event in profile.events], ["fill", "dispatch"])
        fill, launch = profile.events
        self.assertEqual((fill.queue, launch.queue), (queue.id, queue.id))
        self.assertEqual((fill.bytes, fill.execution), (1024, 0))
        self.assertEqual((launch.grid, launch.block), ((256, 1, 1), (64, 1, 1)))
        with self.assertFails(Code.INVALID_ARGUMENT, '"dispatches"'):
            DEVICE.profile(["dispatches"])

    def test_pools(self):
        pool = DEVICE.pool(limit=1 << 20)
        queue = DEVICE.queue()
        array = queue.empty((4, 256), pool, np.uint32)
        array.fill(7, queue=queue)
        np.testing.assert_array_equal(array.download(queue=queue), np.full((4, 256), 7))
        self.assertEqual(pool.statistics["allocations"], 1)
        self.assertGreaterEqual(pool.statistics["used_bytes"], 4096)
        with self.assertFails(Code.RESOURCE_EXHAUSTED, ""):
            queue.empty(1 << 20, pool)
        with self.assertFails(Code.INVALID_ARGUMENT, "(-1)"):
            DEVICE.pool(limit=-1)
        del array
        gc.collect()
        queue.wait()
        pool.trim()
        self.assertEqual(pool.statistics["reserved_bytes"], 0)
        host = queue.empty(16, DEVICE.pool("host", keep=0), np.uint32)
        host.fill(3, queue=queue).wait()
        self.assertTrue((host.numpy() == 3).all())

    def test_semaphores_of_two_processes(self):
        semaphore = DEVICE.semaphore()
        handle = semaphore.export()
        self.assertEqual(len(handle), 64)
        # The other process reaches 1, and waits for 2.
        program = (
            "import sys, halyard\n"
            f"device = halyard.open({DRIVER!r}, vgpu={os.environ['HALYARD_VGPU']!r})\n"
            "shared = device.import_semaphore(bytes.fromhex(sys.argv[1]))\n"
            "shared.signal(1)\n"
            "shared.wait(2, timeout=100)\n"
        )
        with subprocess.Popen([sys.executable, "-c", program, handle.hex()]) as other:
            semaphore.wait(1, timeout=100)
            semaphore.signal(2)
            self.assertEqual(other.wait(timeout=100), 0)
        with self.assertFails(Code.INVALID_ARGUMENT, "has 3 bytes"):
            DEVICE.import_semaphore(b"abc")


class Devices(Base):
    def test_addresses_clocks_and_residency(self):
        array = DEVICE.empty(64, np.uint32, memory="host")
        address = array.numpy().ctypes.data
        found = DEVICE.find_allocation(address + 13)
        self.assertEqual((found["owner"], found["host_address"]), ("device", address))
        self.assertEqual(found["size"], 256)
        with self.assertFails(Code.NOT_FOUND, ""):
            DEVICE.find_allocation(id(DEVICE))
        one, two = DEVICE.read_clocks(), DEVICE.read_clocks()
        self.assertLessEqual(one["device_ticks"], two["device_ticks"])
        self.assertLessEqual(one["host_ns"], two["host_ns"])
        self.assertGreater(one["device_hz"], 1_000_000)
        vadd = kernels("vadd_c_v6").vadd
        groups = vadd.residency(256)["groups_per_compute_unit"]
        self.assertEqual(
            vadd.residency(256)["groups"], groups * DEVICE.info["compute_units"]
        )
        self.assertEqual(vadd.residency()["workgroup_size"] % 64, 0)
        with self.assertFails(Code.INVALID_ARGUMENT, ""):
            vadd.residency(1 << 20)

    def test_facts(self):
        self.assertEqual(DEVICE.driver, DRIVER)
        self.assertIn("gfx90a", DEVICE.target)
        self.assertEqual(DEVICE.info["lds_bytes"], 65536)
        self.assertEqual(DEVICE.ordinal, 0)
        self.assertIn(DEVICE.name, repr(DEVICE))
        self.assertTrue(DEVICE.can_access(DEVICE))
        drivers = {driver["name"]: driver for driver in halyard.drivers()}
        self.assertEqual(drivers[DRIVER]["devices"][0]["target"], DEVICE.target)
        self.assertIn(f"libhalyard_driver_{DRIVER}.so", halyard.load_report())
        DEVICE.fault()

    def test_gpus(self):
        self.assertEqual(DEVICE.info["gpu_count"], DEVICE.gpu_count)
        last = DEVICE.gpu_count - 1
        array = DEVICE.empty(4, np.uint32, gpu=last)
        array.fill(5, queue=DEVICE.queue(gpu=last)).wait()
        self.assertTrue((array.download() == 5).all())
        with self.assertFails(Code.OUT_OF_RANGE, "99"):
            DEVICE.queue(gpu=99)
        with self.assertFails(Code.OUT_OF_RANGE, "99"):
            DEVICE.empty(4, gpu=99)

    def test_errors(self):
        with self.assertFails(Code.NOT_FOUND, "nosuchdriver") as failed:
            halyard.open("nosuchdriver")
        self.assertEqual(str(failed.error), f"NOT_FOUND: {failed.error.message}")
        copy = pickle.loads(pickle.dumps(failed.error))
        self.assertEqual((copy.code, copy.message), (Code.NOT_FOUND, failed.error.message))
        with self.assertFails(Code.INVALID_ARGUMENT, "nosuchkey"):
            halyard.open(DRIVER, options={"nosuchkey": "1"})
        with self.assertFails(Code.FAILED_PRECONDITION, "already"):
            halyard.load_virtual_gpu("gfx900")

    def test_the_program(self):
        def run(*words, **variables):
            return subprocess.run(
                [sys.executable, "-m", "halyard", *words],
                capture_output=True,
                text=True,
                env={**os.environ, **variables},
            )

        self.assertIn("halyard ", run("--version").stdout)
        self.assertEqual(run("nosuchcommand").returncode not in (0, None), True)
        lost = run("--version", HALYARD_PROGRAM="/nosuch/program")
        self.assertIn("The program (/nosuch/program) cannot be run", lost.stderr)
        self.assertEqual(lost.returncode, 1)

    def test_everything_public_is_documented_and_stubbed(self):
        for name in halyard.__all__:
            thing = getattr(halyard, name)
            self.assertTrue(thing.__doc__, name)
            for attribute, value in vars(thing).items() if isinstance(thing, type) else ():
                if attribute.startswith("_") or not (callable(value) or isinstance(value, property)):
                    continue
                self.assertTrue(value.__doc__, f"{name}.{attribute}")
        folder = os.path.dirname(halyard.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        with open(os.path.join(folder, "_core.pyi")) as file:
            stubs = file.read()
        for name, thing in vars(halyard._core).items():
            if name.startswith("_"):
                continue
            self.assertIn(name, stubs)
            for attribute in vars(thing) if isinstance(thing, type) else ():
                if not attribute.startswith("_"):
                    self.assertIn(f"def {attribute}(", stubs, name)


if __name__ == "__main__":
    unittest.main(verbosity=1)
