"""Kernels: functions of a file, called as kernel[grid, block](...)."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._checks import describe, futures, text, whole
from ._errors import Code, Error, WrongType
from ._signature import Signature, Type, parse_signature, scalar
from ._struct import Struct
from ._values import DeviceAddress

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


@dataclass(frozen=True)
class Parameter:
    """An argument of a kernel, from the metadata of its file."""

    index: int
    kind: int
    offset: int  # bytes, in the kernarg segment
    size: int  # bytes
    name: str  # "" if the compiler kept none; so is type_name
    type_name: str
    dtype: Optional[np.dtype] = None  # of a number whose type is known

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
    given = extent if isinstance(extent, (tuple, list, np.ndarray)) and np.ndim(extent) else (extent,)
    if not 1 <= len(given) <= 3:
        raise Error(
            Code.INVALID_ARGUMENT,
            f"The {what} ({extent}) is not one to three numbers of work-items.",
        )
    lengths = [whole(f"number of work-items of the {what}", n, 0, 2**32 - 1) for n in given]
    lengths += [1] * (3 - len(lengths))
    return lengths[0], lengths[1], lengths[2]


def _as_number(value: Any) -> Any:
    """A NumPy scalar for a number that has a type of its own, or the value."""
    if isinstance(value, ctypes._SimpleCData):
        return np.asarray(value)[()]
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biufc":
        return value[()]
    return value


def _pack_typed(value: Any, dtype: np.dtype) -> Optional[bytes]:
    """The bytes of a number as a type; None if the type does not hold it."""
    value = _as_number(value)
    if isinstance(value, np.generic):
        if value.dtype == dtype:
            return value.tobytes()
        # A NumPy number says its type: an integer of the same size with another sign can fit.
        if value.dtype.itemsize != dtype.itemsize or not {value.dtype.kind, dtype.kind} <= set("iub"):
            return None
        value = value.item()
    if isinstance(value, (bool, int)) and dtype.kind in "iub":
        low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not low <= value <= high:
            return None
        return int(value).to_bytes(dtype.itemsize, "little", signed=value < 0)
    if isinstance(value, (bool, int, float)) and dtype.kind == "f":
        try:
            return struct.pack(_FLOAT_FORMATS[dtype.itemsize], value)
        except (KeyError, OverflowError):
            return None
    if isinstance(value, (bool, int, float, complex)) and dtype.kind == "c":
        return np.asarray(value, dtype).tobytes()
    return None


def _pack_untyped(value: Any, size: int) -> Optional[bytes]:
    """The bytes of a value whose type only the caller knows."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tobytes()
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return bytes(value)
    if isinstance(value, (bool, int)) and size in (1, 2, 4, 8):
        try:
            return int(value).to_bytes(size, "little", signed=value < 0)
        except OverflowError:
            return None
    if isinstance(value, float) and size in _FLOAT_FORMATS:
        try:
            return struct.pack(_FLOAT_FORMATS[size], value)
        except OverflowError:
            return None
    return None


def pack_value(value: Any, size: int, dtype: Optional[np.dtype]) -> Optional[bytes]:
    """The bytes of a value that a kernel takes with `size` bytes; None if it does not fit."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        packed: Optional[bytes] = bytes(value)
    elif isinstance(value, Struct):
        packed = value.data
    elif dtype is not None and not isinstance(value, (ctypes.Structure, ctypes.Union)):
        packed = _pack_typed(value, dtype)
    else:
        packed = _pack_untyped(value, size)
    return packed if packed is not None and len(packed) == size else None


class Kernel:
    """A function of a Module, called as kernel[grid, block](arguments…).

    grid and block count work-items: ints, or tuples of up to three. The arguments are checked
    against the file's metadata: their number, kinds and sizes. For memory, pass an Array (or None
    for a null pointer); for a value an int, a float, a NumPy scalar, a ctypes structure, a Struct
    (which can hold addresses of arrays), or bytes.
    An int or a float becomes a number of the argument's type, which has to hold it. A file that C,
    C++ or HIP was compiled to does not say the types: then the Python type decides (pass 2.0, not
    2, for a float), unless a signature gives them: module.kernel("scale", "float*, float, int").
    """

    name: str
    device: "Device"
    parameters: List[Parameter]

    def __init__(
        self,
        device: "Device",
        function: _core.Function,
        signature: Optional[Signature] = None,
    ) -> None:
        info = function.info
        self.device = device
        self.name = info["name"]
        self.info = info
        self._core = function
        self.parameters = [
            _with_dtype(
                Parameter(i, a["kind"], a["offset"], a["size"], a["name"], a["type_name"])
            )
            for i, a in enumerate(info["arguments"])
        ]
        if signature is not None:
            self.parameters = _with_signature(self.name, self.parameters, signature)

    def residency(self, block: int = 0, lds: int = 0) -> Dict[str, int]:
        """How many work-groups of `block` work-items with `lds` bytes of dynamic LDS the device can
        run at once: workgroup_size, groups_per_compute_unit, waves_per_simd,
        max_waves_per_simd, groups. block 0: the size with the most resident work-items."""
        return self._core.residency(
            whole("number of work-items", block, 0, 2**32 - 1),
            whole("number of bytes of LDS", lds, 0, 2**32 - 1),
        )

    def __repr__(self) -> str:
        return f"<halyard.Kernel {self.name}, {len(self.parameters)} arguments>"

    def __getitem__(self, shape: Tuple[Extent, Extent]) -> "Launcher":
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise Error(
                Code.INVALID_ARGUMENT,
                f'A kernel is launched as {self.name}[grid, block](…); "[{shape}]" is given.',
            )
        return Launcher(self, to_extent("grid", shape[0]), to_extent("work-group", shape[1]))

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
                made = pack_value(argument, parameter.size, parameter.dtype)
            if made is None:
                raise Error(
                    Code.INVALID_ARGUMENT,
                    f"{parameter.describe(self.name)}; the launch gives {describe(argument)}."
                    f"{_legal(parameter, argument)}",
                )
            packed.append(made)
        return packed


def _legal(parameter: Parameter, argument: Any) -> str:
    """What an integer argument can be, in a sentence for a message."""
    is_number = isinstance(_as_number(argument), (bool, int, float, np.number))
    if parameter.dtype is None or parameter.dtype.kind not in "iu" or not is_number:
        return ""
    limits = np.iinfo(parameter.dtype)
    return f" Legal are whole numbers from {limits.min} to {limits.max}."


def _with_dtype(parameter: Parameter) -> Parameter:
    """With the type of a number that OpenCL's metadata names."""
    dtype = scalar(parameter.type_name) if parameter.kind == _VALUE else None
    if dtype is None or dtype.itemsize != parameter.size:
        return parameter
    return replace(parameter, dtype=dtype)


def _with_type(kernel: str, parameter: Parameter, given: Type) -> Parameter:
    """With what a signature says of it, if both agree."""
    size = parameter.size if given.dtype is None else given.dtype.itemsize
    agrees = (
        given.is_pointer and parameter.kind in (_BUFFER, _LDS)
        or not given.is_pointer and parameter.kind == _VALUE and size == parameter.size
    )
    if not agrees:
        size_text = f", which has {size} bytes" if given.dtype is not None else ""
        raise Error(
            Code.INVALID_ARGUMENT,
            f"{parameter.describe(kernel)}; the signature says {given.text}{size_text}.",
        )
    return replace(
        parameter,
        name=parameter.name or given.name,
        type_name=given.text,
        dtype=given.dtype,
    )


def _with_signature(
    kernel: str, parameters: Sequence[Parameter], signature: Signature
) -> List[Parameter]:
    """The parameters with the types of a signature."""
    types = parse_signature(signature)
    if len(types) != len(parameters):
        raise Error(
            Code.INVALID_ARGUMENT,
            f'Kernel "{kernel}" takes {len(parameters)} arguments; the signature has {len(types)}.',
        )
    return [_with_type(kernel, parameter, type) for parameter, type in zip(parameters, types)]


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
            whole("number of bytes of LDS", lds, 0, 2**32 - 1),
            self._kernel.pack(arguments),
            [use for argument in arguments if isinstance(argument, Struct) for use in argument.uses],
            futures(after),
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

    def kernel(self, name: str, signature: Optional[Signature] = None) -> Kernel:
        """The kernel of that name. NOT_FOUND lists the names that exist.

        signature: the types of the arguments, which a kernel of C, C++ or HIP does not have in its
        file: "const float*, float*, unsigned n" as in C, or a list (["float*", "float*",
        numpy.uint32]). It must agree with the file about pointers and sizes.
        """
        return Kernel(self.device, self._core.find(text("name of a kernel", name)), signature)

    def global_variable(self, name: str) -> Tuple[DeviceAddress, int]:
        """Where a global variable is, and its bytes."""
        address, size = self._core.global_variable(text("name of a global variable", name))
        return DeviceAddress(address), size

    def __getitem__(self, name: str) -> Kernel:
        return self.kernel(name)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or name not in self.names:
            raise AttributeError(f"The module has no kernel {name!r}; it has {self.names}.")
        return self.kernel(name)

    def __repr__(self) -> str:
        return f"<halyard.Module for {self.target} with {', '.join(self.names)}>"
