"""Kernels: functions of a file, called as kernel[grid, block](...)."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._errors import Code, Error

if TYPE_CHECKING:
    from ._device import Device
    from ._queue import Queue

Extent = Union[int, Sequence[int]]

_VALUE, _BUFFER, _LDS = 0, 1, 2
_KIND_NAMES = {
    _VALUE: "a value",
    _BUFFER: "memory (an Array, a DeviceAddress or None)",
    _LDS: "Lds",
}
_FLOAT_FORMATS = {2: "<e", 4: "<f", 8: "<d"}
_FLOAT_TYPES = {"float", "double", "half", "_Float16"}
_INTEGER_TYPES = {
    *("bool", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "size_t"),
    *("signed char", "unsigned char", "unsigned short", "unsigned int", "unsigned long"),
}


@dataclass(frozen=True)
class DeviceAddress:
    """An address that is passed to a kernel unchecked. Its memory is not kept alive."""

    value: int


@dataclass(frozen=True)
class Parameter:
    """An argument of a kernel, from the metadata of its file."""

    index: int
    kind: int
    offset: int  # bytes, in the kernarg segment
    size: int  # bytes
    name: str  # "" if the compiler kept none; so is type_name
    type_name: str

    def describe(self, kernel: str) -> str:
        """ "Argument 3 (n, uint) of kernel "vadd" is a value of 4 bytes"."""
        words = ", ".join(word for word in (self.name, self.type_name) if word)
        size = f" of {self.size} bytes" if self.kind == _VALUE else ""
        kind = _KIND_NAMES.get(self.kind, "of a kind that cannot be given")
        return (
            f"Argument {self.index}{f' ({words})' if words else ''} of kernel \"{kernel}\" is "
            f"{kind}{size}"
        )


def to_extent(what: str, extent: Extent) -> Tuple[int, int, int]:
    """(x, y, z) of an int or of one to three of them."""
    lengths = [extent] if np.ndim(extent) == 0 else list(extent)
    if not 1 <= len(lengths) <= 3 or any(int(length) < 0 for length in lengths):
        raise Error(
            Code.INVALID_ARGUMENT,
            f"The {what} ({extent}) is not one to three numbers of work-items.",
        )
    lengths = [int(length) for length in lengths] + [1] * (3 - len(lengths))
    return lengths[0], lengths[1], lengths[2]


def pack_value(value: Any, size: int, type_name: str) -> Optional[bytes]:
    """The bytes of a value that a kernel takes with `size` bytes; None if it does not fit."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        packed = bytes(value)
    elif isinstance(value, (np.generic, np.ndarray)):
        packed = value.tobytes()
    elif isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        packed = bytes(value)
    elif isinstance(value, (bool, int)) and type_name not in _FLOAT_TYPES:
        if size not in (1, 2, 4, 8):
            return None
        try:
            packed = int(value).to_bytes(size, "little", signed=value < 0)
        except OverflowError:
            return None
    elif (
        isinstance(value, (int, float))
        and size in _FLOAT_FORMATS
        and type_name not in _INTEGER_TYPES
    ):
        try:
            packed = struct.pack(_FLOAT_FORMATS[size], value)
        except OverflowError:
            return None
    else:
        return None
    return packed if len(packed) == size else None


class Kernel:
    """A function of a Module, called as kernel[grid, block](arguments…).

    grid and block count work-items: ints, or tuples of up to three. The arguments are checked
    against the file's metadata: their number, kinds and sizes. For memory, pass an Array (or None
    for a null pointer); for a value an int, a float, a NumPy scalar, a ctypes structure, or bytes.
    An int or a float is converted to the size of the kernel's argument. If the file does not say
    whether that is an integer or a float, the Python type decides: pass 2.0, not 2, for a float.
    """

    name: str
    device: "Device"
    parameters: List[Parameter]

    def __init__(self, device: "Device", function: _core.Function) -> None:
        info = function.info
        self.device = device
        self.name = info["name"]
        self.info = info
        self._core = function
        self.parameters = [
            Parameter(i, a["kind"], a["offset"], a["size"], a["name"], a["type_name"])
            for i, a in enumerate(info["arguments"])
        ]

    def residency(self, block: int = 0, lds: int = 0) -> Dict[str, int]:
        """How many work-groups of `block` work-items with `lds` bytes of dynamic LDS the device can
        run at once: workgroup_size, groups_per_compute_unit, waves_per_simd,
        max_waves_per_simd, groups. block 0: the size with the most resident work-items."""
        return self._core.residency(block, lds)

    def __repr__(self) -> str:
        return f"<halyard.Kernel {self.name}, {len(self.parameters)} arguments>"

    def __getitem__(self, shape: Tuple[Extent, Extent]) -> "Launcher":
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise Error(
                Code.INVALID_ARGUMENT,
                f'A kernel is launched as {self.name}[grid, block](…); "[{shape}]" is given.',
            )
        return Launcher(self, to_extent("grid", shape[0]), to_extent("block", shape[1]))

    def pack(self, arguments: Sequence[Any]) -> List[Any]:
        """The arguments for a launch. INVALID_ARGUMENT names the wrong one."""
        if len(arguments) != len(self.parameters):
            raise Error(
                Code.INVALID_ARGUMENT,
                f'Kernel "{self.name}" takes {len(self.parameters)} arguments; the launch gives '
                f"{len(arguments)}.",
            )
        packed: List[Any] = []
        for parameter, argument in zip(self.parameters, arguments):
            made: Any = None
            if parameter.kind == _BUFFER:
                if isinstance(argument, _core.Memory):
                    made = argument
                elif argument is None:
                    made = 0
                elif isinstance(argument, DeviceAddress):
                    made = argument.value
            elif parameter.kind == _LDS and isinstance(argument, _core.Lds):
                made = argument
            elif parameter.kind == _VALUE and not isinstance(argument, _core.Memory):
                made = pack_value(argument, parameter.size, parameter.type_name)
            if made is None:
                raise Error(
                    Code.INVALID_ARGUMENT,
                    f"{parameter.describe(self.name)}; the launch gives {_describe(argument)}.",
                )
            packed.append(made)
        return packed


def _describe(argument: Any) -> str:
    """A description of a launch's argument, for a message."""
    if isinstance(argument, _core.Memory):
        return "an Array"
    if isinstance(argument, (np.generic, np.ndarray)):
        return f"a NumPy {argument.dtype} of {argument.nbytes} bytes"
    if isinstance(argument, (bytes, bytearray, memoryview)):
        return f"{len(bytes(argument))} bytes"
    text = repr(argument)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(argument).__name__})"


class Launcher:
    """A kernel with its grid and block."""

    def __init__(
        self, kernel: Kernel, grid: Tuple[int, int, int], block: Tuple[int, int, int]
    ) -> None:
        self._kernel = kernel
        self._grid = grid
        self._block = block

    def __call__(
        self,
        *arguments: Any,
        queue: Optional["Queue"] = None,
        after: Sequence[_core.Future] = (),
        lds: int = 0,
    ) -> _core.Future:
        """Launches the kernel on `queue` (by default the device's default queue), after its earlier
        work and when every Future of `after` is done. Returns at once.

        lds: bytes of dynamic LDS (HIP's extern __shared__).
        """
        queue = queue or self._kernel.device.default_queue
        return queue._core.launch(
            self._kernel._core,
            self._grid,
            self._block,
            lds,
            self._kernel.pack(arguments),
            list(after),
        )


class Module:
    """The kernels of a file, loaded on a device: module["vadd"] or module.vadd."""

    def __init__(self, device: "Device", executable: _core.Executable) -> None:
        self.device = device
        self._core = executable

    @property
    def names(self) -> List[str]:
        """The names of the kernels."""
        return list(self._core.names)

    @property
    def target(self) -> str:
        """What the code was built for: "gfx90a:xnack-"."""
        return self._core.info[0]

    @property
    def code_object_version(self) -> int:
        """3 to 6."""
        return self._core.info[1]

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name. NOT_FOUND lists the names that exist."""
        return Kernel(self.device, self._core.find(name))

    def global_variable(self, name: str) -> Tuple[DeviceAddress, int]:
        """Where a global variable is, and its bytes."""
        address, size = self._core.global_variable(name)
        return DeviceAddress(address), size

    def __getitem__(self, name: str) -> Kernel:
        return self.kernel(name)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or name not in self.names:
            raise AttributeError(f"The module has no kernel {name!r}; it has {self.names}.")
        return self.kernel(name)

    def __repr__(self) -> str:
        return f"<halyard.Module for {self.target} with {', '.join(self.names)}>"
