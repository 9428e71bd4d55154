#!/usr/bin/env python3
"""Products of matrices by rocBLAS's rocblas_gemm_ex, compared with the same by Python's integers.

  halyard vgpu exec --profile gfx90a -- scripts/rocblas_products.py

It runs where librocblas.so.0 and HIP's runtime are (scripts/check-rocblas). Elements are small
integers, so that every product is exact whatever the order of its sums, and a result is right or
wrong. Sizes of K leave tails of each kind behind the widths that kernels unroll by. Between columns
lies what no result may depend on. Prints each wrong product, and ends with
"N passed, N failed, N skipped".
"""

import ctypes
import operator
import random
import struct
import sys

KEEP, TRANSPOSE = 111, 112  # rocblas_operation
F16, F32, I8, I32, BF16 = 150, 151, 160, 162, 168  # rocblas_datatype
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2  # hipMemcpyKind

# Name, type of A and B, of C and D, of the computation, and the largest element of A and B.
KINDS = (
    ("f32", F32, F32, F32, 3),
    ("f16", F16, F16, F32, 2),
    ("f16, computed in f16", F16, F16, F16, 2),
    ("f16 into f32", F16, F32, F32, 3),
    ("bf16", BF16, BF16, F32, 1),
    ("bf16 into f32", BF16, F32, F32, 3),
    ("i8", I8, I32, I32, 100),
)
SIZES = ((64, 48), (33, 17))  # of M and N
TAILS = (1, 2, 3, 5, 7, 8, 15, 17, 31, 33, 66)  # of K
GAP = 3  # elements between columns


def packed(kind, values):
    if kind == BF16:
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{ {F16: 'e', F32: 'f', I8: 'b', I32: 'i'}[kind]}", *values)


def unpacked(kind, data):
    if kind == BF16:
        words = struct.unpack(f"<{len(data) // 2}H", data)
        return [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in words]
    code, size = {F16: ("e", 2), F32: ("f", 4), I32: ("i", 4)}[kind]
    return list(struct.unpack(f"<{len(data) // size}{code}", data))


def scalar(kind, value):
    return ctypes.create_string_buffer(packed(kind, [value]))


class Device:
    """HIP's memory and rocBLAS's products; every call that fails raises."""

    def __init__(self):
        self.hip = ctypes.CDLL("libamdhip64.so.5")
        self.rocblas = ctypes.CDLL("librocblas.so.0")
        self.handle = ctypes.c_void_p()
        self.check(self.rocblas.rocblas_create_handle(ctypes.byref(self.handle)))

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"the library gives status {status}")

    def upload(self, data):
        pointer = ctypes.c_void_p()
        self.check(self.hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(len(data))))
        self.check(self.hip.hipMemcpy(pointer, data, ctypes.c_size_t(len(data)), HOST_TO_DEVICE))
        return pointer

    def download(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        self.check(self.hip.hipMemcpy(data, pointer, ctypes.c_size_t(size), DEVICE_TO_HOST))
        return data.raw

    def free(self, pointer):
        self.check(self.hip.hipFree(pointer))

    def multiply(self, kinds, operations, sizes, matrices, strides):
        """C becomes A times B plus C, as elements in memory."""
        source, result, compute = kinds
        m, n, k = sizes
        one = scalar(compute, 1)
        a, b, c = (self.upload(packed(kind, matrix))
                   for kind, matrix in zip((source, source, result), matrices))
        try:
            self.check(self.rocblas.rocblas_gemm_ex(
                self.handle, *operations, m, n, k, one, a, source, strides[0], b, source, strides[1],
                one, c, result, strides[2], c, result, strides[2], compute, 0, 0, 0))
            return unpacked(result, self.download(c, len(packed(result, matrices[2]))))
        finally:
            for pointer in (a, b, c):
                self.free(pointer)


def matrix(rows, columns, largest):
    """Column after column, and a gap behind each; and the distance of columns."""
    stride = rows + GAP
    return [random.choice([-1, 1]) * random.randint(1, largest)
            for _ in range(stride * columns)], stride


def check(device, kind, m, n, k, operations):
    name, source, result, compute, largest = kind
    a, a_stride = matrix(*((m, k) if operations[0] == KEEP else (k, m)), largest)
    b, b_stride = matrix(*((k, n) if operations[1] == KEEP else (n, k)), largest)
    c, c_stride = matrix(m, n, 3)
    rows = [a[row:a_stride * k:a_stride] if operations[0] == KEEP
            else a[row * a_stride:row * a_stride + k] for row in range(m)]
    columns = [b[column * b_stride:column * b_stride + k] if operations[1] == KEEP
               else b[column:b_stride * k:b_stride] for column in range(n)]
    expected = list(c)
    for column in range(n):
        for row in range(m):
            expected[column * c_stride + row] += sum(map(operator.mul, rows[row], columns[column]))
    actual = device.multiply((source, result, compute), operations, (m, n, k), (a, b, c),
                             (a_stride, b_stride, c_stride))
    wrong = [at for at, (one, other) in enumerate(zip(actual, expected)) if one != other]
    if not wrong:
        return True
    at = wrong[0]
    letters = "".join("N" if operation == KEEP else "T" for operation in operations)
    print(f"{name}, {letters}, m {m}, n {n}, k {k}: {len(wrong)} of {m * n} elements differ; row "
          f"{at % c_stride}, column {at // c_stride} is {actual[at]}, not {expected[at]}")
    return False


def main():
    random.seed(33)
    device = Device()
    passed = failed = 0
    for kind in KINDS:
        for m, n in SIZES:
            for k in TAILS:
                for operations in ((KEEP, KEEP), (KEEP, TRANSPOSE), (TRANSPOSE, KEEP)):
                    try:
                        right = check(device, kind, m, n, k, operations)
                    except RuntimeError as error:
                        print(f"{kind[0]}, m {m}, n {n}, k {k}: {error}")
                        right = False
                    passed += right
                    failed += not right
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
