"""What callers give to the package halyard: refused with a sentence, unless it arrives as it is.
HALYARD_DEVICE and HALYARD_VGPU name the device, HALYARD_KERNELS is the folder with the suite's kernels."""

import ctypes
import os
import shutil
import sys
import tempfile
import unittest

import numpy as np

import halyard
from halyard import Code

KERNELS = os.environ["HALYARD_KERNELS"]
DRIVER = os.environ["HALYARD_DEVICE"]
DEVICE = None


def setUpModule():
    global DEVICE
    DEVICE = halyard.open(DRIVER, vgpu=os.environ["HALYARD_VGPU"])


def load(name):
    return DEVICE.load(f"{KERNELS}/{name}.hipfb")


class Base(unittest.TestCase):
    def refused(self, words, work, *arguments, kind=halyard.Error, **named):
        """`work` raises an INVALID_ARGUMENT with these words, and no sentence of pybind11's."""
        with self.assertRaises(kind) as raised:
            work(*arguments, **named)
        error = raised.exception
        self.assertEqual(error.code, Code.INVALID_ARGUMENT)
        self.assertIn(words, error.message)
        self.assertNotIn("incompatible function arguments", error.message)
        self.assertTrue(error.message.endswith("."), error.message)

    def of_wrong_type(self, words, work, *arguments, **named):
        self.refused(words, work, *arguments, kind=halyard.WrongType, **named)


class Values(Base):
    """Of arrays."""

    def test_integers_are_not_wrapped_around(self):
        array = DEVICE.zeros(4, np.uint8, memory="host")
        for value in (300, -1, 256, 1 << 70):
            self.refused(f"The value {value} does not fit the type uint8", array.fill, value)
        self.refused("which holds whole numbers from 0 to 255.", array.fill, 300)
        self.refused("The value 300 at [2] does not fit", array.upload, [1, 2, 300, 4])
        self.refused("The value -1 at [0]", array.upload, np.array([-1, 2, 3, 4]))
        self.refused("The value 300 at [1]", DEVICE.array, [1, 300], np.uint8)
        self.refused("The value 256", array.fill, np.int64(256))
        self.assertEqual(bytes(array), bytes(4))
        array.fill(255).wait()
        array.upload(np.array([1, 2, 3, 255])).wait()
        self.assertEqual(bytes(array), b"\1\2\3\xff")

    def test_fractions_are_not_cut_off(self):
        array = DEVICE.zeros(3, np.int32, memory="host")
        self.refused("The value 1.9 does not fit the type int32", array.fill, 1.9)
        self.refused("The value 0.5 at [1]", array.upload, [1, 0.5, 2])
        for value in (float("nan"), float("inf"), 2.0**31, -(2.0**31) - 1):
            self.refused("does not fit the type int32", array.fill, value)
        array.fill(-2.0**31).wait()
        np.testing.assert_array_equal(np.asarray(array), [-(2**31)] * 3)
        array.upload([1.0, 2.0, 3.0]).wait()  # whole numbers are
        np.testing.assert_array_equal(np.asarray(array), [1, 2, 3])

    def test_large_integers_are_exact(self):
        array = DEVICE.zeros(2, np.uint64, memory="host")
        array.upload([2**63 + 1, 1]).wait()
        self.assertEqual(np.asarray(array).tolist(), [2**63 + 1, 1])
        self.refused("The value 18446744073709551616 at [1]", array.upload, [1, 2**64])
        signed = DEVICE.zeros(2, np.int64)
        self.refused("The value 9223372036854775808 at [0]", signed.upload, [2**63, 1])
        self.refused("does not fit the type int64", signed.fill, 2.0**63)

    def test_floats_are_rounded_and_do_not_become_infinite(self):
        array = DEVICE.zeros(2, np.float16, memory="host")
        array.upload([0.1, float("inf")]).wait()
        np.testing.assert_array_equal(np.asarray(array), np.float16([0.1, np.inf]))
        for value in (70000, 1e5, -1e300):
            self.refused("does not fit the type float16", array.fill, value)
        self.refused("does not fit the type float32", DEVICE.zeros(2).fill, 1e39)

    def test_other_kinds_are_refused(self):
        floats = DEVICE.zeros(4)
        for value in (None, "1.5", 2 + 1j, b"x", object()):
            self.refused("does not fit the type float32", floats.fill, value)
        self.refused("The value None at [1]", floats.upload, [1, None, 2, 3])
        self.refused("does not fit the type bool", DEVICE.zeros(2, bool).fill, 2)
        self.refused("up to 3 bytes", DEVICE.zeros(2, "S3").fill, b"long")
        complexes = DEVICE.zeros(2, np.complex64, memory="host")
        complexes.fill(1 + 2j).wait()
        self.assertEqual(np.asarray(complexes)[1], 1 + 2j)
        pairs = DEVICE.zeros(2, [("x", "u1"), ("y", "f8")], memory="host")
        pairs.upload([(1, 2.5), (3, 4.5)]).wait()
        self.assertEqual(np.asarray(pairs).tolist(), [(1, 2.5), (3, 4.5)])
        self.refused("The value 300", pairs.fill, (300, 1.0))

    def test_a_fill_takes_one_value(self):
        self.refused("of shape (2,). It takes one value", DEVICE.zeros(4).fill, [1, 2])

    def test_downloads(self):
        array = DEVICE.array(np.array([1, 300]))
        self.refused("The value 300 at [1] does not fit", array.download, np.zeros(2, np.uint8))
        self.of_wrong_type("is not a NumPy array", array.download, [0, 0])


class Arguments(Base):
    """Of kernels."""

    def test_the_types_of_opencl_are_checked(self):
        # void mandelbrot(uint*, uint, uint, float, float, float, uint)
        launch = load("mandelbrot").mandelbrot[(8, 8), (8, 8)]
        out = DEVICE.zeros((8, 8), np.uint32)

        def run(width=8, re=-2.0):
            return launch(out, width, 8, re, 1.0, 0.25, 5)

        run().wait()
        for wrong in (-1, 2**32, 8.0, np.float32(8), np.int32(-8), ctypes.c_float(8)):
            self.refused("of kernel \"mandelbrot\" is a value of 4 bytes; the launch gives", run, wrong)
        self.refused("(int). Legal are whole numbers from 0 to 4294967295.", run, -1)
        for wrong in (np.int32(1), ctypes.c_int(1), 1e39, "1", None):
            self.refused("the launch gives", run, 8, wrong)
        for right in (8, np.uint32(8), np.int32(8), ctypes.c_uint(8), b"\x08\0\0\0"):
            run(right).wait()
        for right in (-2, np.float32(-2), ctypes.c_float(-2), bytes(4)):
            run(8, right).wait()

    def test_a_signature_gives_the_types(self):
        module = load("busy")  # affine(unsigned*, unsigned n, unsigned factor, unsigned summand)
        values = DEVICE.array(np.arange(4, dtype=np.uint32))
        signatures = (
            "unsigned*, unsigned, unsigned, unsigned",
            "uint32_t* values, const unsigned int n, uint factor, unsigned summand",
            "void affine(unsigned *values, unsigned n, unsigned factor, unsigned summand)",
            ["uint32*", np.uint32, "uint32", np.dtype("u4")],
        )
        for signature in signatures:
            kernel = module.kernel("affine", signature)
            self.assertEqual([p.dtype for p in kernel.parameters], [None] + 3 * [np.dtype("u4")])
            kernel[64, 64](values, 4, 1, 1).wait()
            self.refused("Legal are whole numbers from 0 to 4294967295.", kernel[64, 64], values, 4, -1, 1)
            self.refused("the launch gives 1.5 (float)", kernel[64, 64], values, 4, 1.5, 1)
        np.testing.assert_array_equal(values.download(), [4, 5, 6, 7])
        self.assertEqual(module.kernel("affine", "int*, int, int n, int").parameters[2].name, "n")
        # Without one, the Python type decides.
        module.affine[64, 64](values, 4, 1, np.uint32(0)).wait()

    def test_a_float_of_a_signature_takes_an_int(self):
        # The bits of 2.0f, which the kernel counts with as an integer.
        kernel = load("busy").kernel("affine", "void*, int, float, int")
        values = DEVICE.array(np.ones(1, np.uint32))
        kernel[64, 64](values, 1, 2, 0).wait()
        self.assertEqual(values.download()[0], np.float32(2).view(np.uint32))

    def test_a_signature_agrees_with_the_file(self):
        module = load("vadd_c_v6")
        for signature, words in (
            ("float*, float*, float*", 'Kernel "vadd" takes 4 arguments; the signature has 3.'),
            ("float*, float*, float*, long", "; the signature says long, which has 8 bytes."),
            ("float*, float*, float*, float*", "; the signature says float*."),
            ("float*, float*, float, int", "is memory (an Array, a DeviceAddress or None); the sig"),
            ("float*, float*, float*, flaot", 'Entry 3 of the signature ("flaot") is not a type.'),
            ("float*, float*, float*, int int", "Entry 3"),
            ("float*, float*, float*, short long", "Entry 3"),
            (["float*", "float*", "float*", None], "Entry 3 of the signature (None (NoneType))"),
        ):
            self.refused(words, module.kernel, "vadd", signature)
        self.of_wrong_type("is neither text nor a list", module.kernel, "vadd", 5)

    def test_shapes_are_whole_numbers(self):
        vadd = load("vadd_c_v6").vadd
        self.of_wrong_type("work-items of the grid (1.5 (float)) is not a whole", lambda: vadd[1.5, 64])
        self.of_wrong_type("work-items of the work-group (64.0", lambda: vadd[64, (64.0, 1)])
        self.refused("(-1) is out of range. Legal are 0 to 4294967295.", lambda: vadd[-1, 64])
        self.of_wrong_type("(None (NoneType))", lambda: vadd[None, 64])
        a = DEVICE.empty(64)
        vadd[(np.int64(64),), 64](a, a, a, 64).wait()
        self.of_wrong_type("number of bytes of LDS (1.5", vadd[64, 64], a, a, a, 64, lds=1.5)
        self.of_wrong_type("length of a dimension (1.5 (float))", DEVICE.empty, 1.5)
        self.of_wrong_type("length of a dimension ('4' (str))", DEVICE.empty, "4")
        self.refused("length of a dimension (-4)", DEVICE.empty, (2, -4))
        self.of_wrong_type("number of work-items", vadd.residency, 1.5)


class Calls(Base):
    """What pybind11 would refuse with words of its own."""

    def test_numbers(self):
        semaphore = DEVICE.semaphore(3)
        self.refused("The value of a semaphore (-1) is out of range.", DEVICE.semaphore, -1)
        for method in (semaphore.signal, semaphore.at, semaphore.wait, DEVICE.semaphore):
            self.of_wrong_type("value of a semaphore (1.5 (float)) is not a whole number", method, 1.5)
            self.refused("Legal are 0 to 18446744073709551615.", method, 1 << 64)
        for timeout in ("1", float("nan"), [1]):
            self.refused("is not a number of seconds", semaphore.wait, 3, timeout)
        semaphore.wait(3, np.float32(1))
        self.of_wrong_type("number of bytes of LDS (1.5", halyard.Lds, 1.5)
        self.refused("out of range", halyard.Lds, 1 << 32)
        for work in (
            lambda: DEVICE.queue(gpu="0"),
            lambda: DEVICE.empty(4, gpu=0.0),
            lambda: DEVICE.pool(limit=1.5),
            lambda: DEVICE.pool(keep="x"),
            lambda: DEVICE.find_allocation(1.0),
            lambda: DEVICE.from_pointer("x", 4),
            lambda: DEVICE.import_dmabuf(1.0, 4),
            lambda: DEVICE.import_queue(None),
        ):
            self.of_wrong_type("is not a whole number. Legal are", work)

    def test_arguments_that_are_too_many_or_have_other_names(self):
        semaphore = DEVICE.semaphore(3)
        future = DEVICE.default_queue.future()
        self.of_wrong_type("Semaphore.signal takes (value: object); the call gives ().", semaphore.signal)
        self.of_wrong_type("the call gives (1 (int), 'x' (str)).", semaphore.signal, 1, "x")
        self.of_wrong_type("Semaphore.fail takes (message: str); the call gives (5 (int)).", semaphore.fail, 5)
        self.of_wrong_type("Future.wait takes (timeout: object = None)", future.wait, time=1)
        self.of_wrong_type("A Future is not constructed", halyard.Future)
        self.of_wrong_type("A Semaphore is not constructed", halyard.Semaphore, 1)
        self.of_wrong_type("Lds takes (bytes: int)", halyard.Lds)
        self.of_wrong_type("takes", halyard._core.open_device, 5)

    def test_help_shows_what_a_method_takes(self):
        first = halyard.Semaphore.signal.__doc__.splitlines()[0]
        self.assertTrue(first.startswith("signal(self: "), first)
        self.assertNotIn("Overloaded", halyard.Future.wait.__doc__)

    def test_objects(self):
        array = DEVICE.zeros(4)
        queue = DEVICE.queue()
        for after in (5, [5], queue.future(), [None]):
            self.of_wrong_type("Legal is a list of Futures", array.fill, 1, after=after)
        self.of_wrong_type("is not callable", queue.call, 5)
        self.of_wrong_type("is not a halyard.Array", array.copy_from, np.zeros(4))
        self.of_wrong_type("is not a halyard.Device", DEVICE.can_access, 5)
        self.of_wrong_type("no __dlpack__", DEVICE.from_dlpack, 5)
        self.of_wrong_type("is neither a path", DEVICE.load, 5)
        self.of_wrong_type("IPC handle (5 (int)) is not bytes", DEVICE.import_ipc, 5, 4)
        self.of_wrong_type("semaphore's handle ('x' (str)) is not bytes", DEVICE.import_semaphore, "x")
        self.of_wrong_type("URI of a device (5 (int)) is not text", halyard.open, 5)
        self.of_wrong_type("value of the option a (5 (int)) is not text", halyard.open, DRIVER, options={"a": 5})
        capsule = DEVICE.zeros(4, memory="host").__dlpack__()
        DEVICE.from_dlpack(capsule)
        self.refused("A capsule is used once.", DEVICE.from_dlpack, capsule)


class Texts(Base):
    def test_no_text_is_cut_at_a_nul(self):
        module = load("vadd_c_v6")
        self.refused(r"('vadd\x00x' (str)) contains a NUL character", lambda: module["vadd\0x"])
        self.refused("NUL", module.global_variable, "a\0b")
        self.refused("NUL", DEVICE.load, f"{KERNELS}/vadd_c_v6.hipfb\0.txt")
        self.refused("NUL", halyard.open, DRIVER + "\0:7")
        self.refused("NUL", halyard.open, DRIVER, options={"validation": "none\0"})
        self.refused("NUL", halyard.load_virtual_gpu, os.environ["HALYARD_VGPU"] + "\0x")
        self.refused("NUL", DEVICE.semaphore().fail, "a\0b")

    def test_text_that_is_not_ascii(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("Größe 漢字.hipfb", os.fsdecode(b"not utf-8 \xff.hipfb")):
                path = os.path.join(folder, name)
                shutil.copy(f"{KERNELS}/vadd_c_v6.hipfb", path)
                self.assertEqual(DEVICE.load(path).names, ["vadd"])
        for missing, shown in (("/nosuch/Größe", "/nosuch/Größe"), (os.fsdecode(b"/nosuch/\xff"), "/nosuch/\\xff")):
            with self.assertRaises(halyard.Error) as raised:
                DEVICE.load(missing)
            self.assertIn(shown, raised.exception.message)
        module = load("vadd_c_v6")
        for name in ("vädd", os.fsdecode(b"v\xffdd")):
            with self.assertRaises(halyard.Error) as raised:
                module[name]
            self.assertEqual(raised.exception.code, Code.NOT_FOUND)
        self.refused("half of a character", lambda: module["\ud800"])
        with self.assertRaises(halyard.Error):
            halyard.open("amdgpü")
        semaphore = DEVICE.semaphore()
        semaphore.fail("Ende: größer als möglich")
        with self.assertRaisesRegex(halyard.Error, "größer als möglich"):
            semaphore.wait(1)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
