"""Structs that a kernel takes by value and that hold addresses of arrays."""

from __future__ import annotations

import ctypes
from typing import Any, List, Tuple

import numpy as np

from . import _core
from ._checks import describe, whole
from ._errors import Code, Error
from ._values import DeviceAddress

_ADDRESS_BYTES = 8


class Struct:
    """A struct for an argument that a kernel takes by value, laid out as C does on AMDGPU.

    Struct(a, a, np.int64(0), np.array([n], np.int64), np.array([1], np.int64)) is an MLIR memref
    descriptor of one dimension. A field is an Array (its address), None (a null pointer), a
    DeviceAddress, a NumPy scalar or array, a ctypes value, or another Struct. The arrays live until
    the work is done.
    """

    def __init__(self, *fields: Any) -> None:
        data = bytearray()
        self.alignment = 1
        self.uses: List[_core.Memory] = []
        for index, field in enumerate(fields):
            packed, alignment = self._pack(index, field)
            data += bytes(-len(data) % alignment) + packed
            self.alignment = max(self.alignment, alignment)
        if not data:
            raise Error(Code.INVALID_ARGUMENT, "A Struct has at least one field.")
        self.data = bytes(data) + bytes(-len(data) % self.alignment)

    def _pack(self, index: int, field: Any) -> Tuple[bytes, int]:
        """The bytes of a field, and their alignment."""
        if isinstance(field, Struct):
            self.uses += field.uses
            return field.data, field.alignment
        if isinstance(field, _core.Memory):
            self.uses.append(field)
            field = DeviceAddress(field.address)
        if field is None or isinstance(field, DeviceAddress):
            value = 0 if field is None else whole("device address", field.value)
            return value.to_bytes(_ADDRESS_BYTES, "little"), _ADDRESS_BYTES
        if isinstance(field, (np.generic, np.ndarray)) and field.dtype.kind in "biufcV":
            return field.tobytes(), max(field.dtype.alignment, 1)
        if isinstance(
            field, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)
        ):
            return bytes(field), ctypes.alignment(field)
        raise Error(
            Code.INVALID_ARGUMENT,
            f"Field {index} of a Struct is {describe(field)}, whose size is not known."
            f" Legal are an Array, None, a DeviceAddress, a NumPy scalar or array "
            f"(numpy.int64(4)), a ctypes value and a Struct.",
        )

    def __repr__(self) -> str:
        return f"<halyard.Struct of {len(self.data)} bytes, with {len(self.uses)} arrays>"
