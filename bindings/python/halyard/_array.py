"""Arrays: elements in memory that a device can access."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._checks import convert, describe, futures
from ._errors import Code, Error, WrongType

if TYPE_CHECKING:
    from ._device import Device
    from ._queue import Queue

MEMORY_TYPES = ("device", "host", "device-mapped")

# Of DLPack: kDLInt, kDLUInt, kDLFloat, kDLComplex, kDLBool.
_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Dmabuf(NamedTuple):
    """Memory of a Linux dma-buf, from the byte `offset` on."""

    fd: int
    offset: int


def memory_type(name: str) -> int:
    """The number of a memory type's name."""
    if name in MEMORY_TYPES:
        return MEMORY_TYPES.index(name)
    raise Error(
        Code.INVALID_ARGUMENT,
        f'The memory type ("{name}") does not exist. Legal are {", ".join(MEMORY_TYPES)}, and for '
        f"Device.empty managed.",
    )


# In the order of halyard_memory_advice.
ADVICE = (
    "read mostly",
    "not read mostly",
    "prefer device",
    "prefer host",
    "prefer nothing",
    "accessed by device",
    "not accessed by device",
)


def advice_number(name: str) -> int:
    """The number of an advice's name."""
    if name in ADVICE:
        return ADVICE.index(name)
    raise Error(
        Code.INVALID_ARGUMENT,
        f'The advice ("{name}") does not exist. Legal are {", ".join(ADVICE)}.',
    )


class Array(_core.Memory):
    """Contiguous elements of one type, in memory that a device can access.

    Made by Device.empty, Device.array, Device.from_dlpack and similar functions. If the host can
    access the memory (memory="host" or "device-mapped"), an array has the buffer protocol and
    __array_interface__: numpy.asarray(array) is a view, without a copy. The writes of work are
    visible when its Future is done; only download() waits for it.
    """

    device: "Device"
    dtype: np.dtype

    def __init__(self, memory: _core.Memory, device: "Device", shape: Tuple[int, ...], dtype: Any):
        dtype = np.dtype(dtype)
        if dtype.hasobject:
            raise Error(
                Code.INVALID_ARGUMENT,
                f"The type ({dtype}) holds Python objects, which no device understands.",
            )
        super().__init__(memory)
        self.set_shape(list(shape), dtype.itemsize, _format_of(dtype))
        self.device = device
        self.dtype = dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The lengths of the dimensions."""
        return tuple(_core.Memory.shape.__get__(self))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def memory(self) -> str:
        """The type of the memory: "device", "host" or "device-mapped"."""
        return MEMORY_TYPES[self.memory_type]

    @property
    def on_host(self) -> bool:
        """Whether the host can access the elements."""
        return self.host_address != 0

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("An array without dimensions has no length.")
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"<halyard.Array of {self.dtype}, shape {self.shape}, in {self.memory} memory of "
            f"{self.device.uri}>"
        )

    def __getattr__(self, name: str) -> Any:
        # An attribute only where the host sees the memory: NumPy asks for it first.
        if name == "__array_interface__" and self.host_address != 0:
            return {
                "version": 3,
                "shape": self.shape,
                "typestr": self.dtype.str,
                "descr": self.dtype.descr,
                "data": (self.host_address, False),
                "strides": None,
            }
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __array__(self, dtype: Any = None) -> np.ndarray:
        view = self.numpy()
        return view if dtype is None else view.astype(dtype, copy=False)

    def numpy(self) -> np.ndarray:
        """A view of the elements, without a copy. FAILED_PRECONDITION for device memory."""
        if not self.on_host:
            raise Error(
                Code.FAILED_PRECONDITION,
                "The array is in device memory, which the host cannot access: call download(), or "
                'allocate it with memory="host".',
            )
        return np.asarray(_Bytes(self)).view(self.dtype).reshape(self.shape)

    def upload(
        self, data: Any, queue: Optional["Queue"] = None, after: Sequence[_core.Future] = ()
    ) -> _core.Future:
        """Writes the elements in the order of `queue` (by default the device's default queue).

        The data are copied before the call returns. It does not wait for the device. The array's
        type has to hold each value; only floats are rounded.
        """
        data = convert(data, self.dtype)
        if data.shape != self.shape and data.ndim != 0:
            raise Error(
                Code.INVALID_ARGUMENT,
                f"An array of shape {self.shape} is given data of shape {data.shape}.",
            )
        data = np.ascontiguousarray(np.broadcast_to(data, self.shape))
        queue = queue or self.device.default_queue
        return queue._core.update(self, data.reshape(-1).view(np.uint8), futures(after))

    def download(
        self,
        out: Optional[np.ndarray] = None,
        queue: Optional["Queue"] = None,
        after: Sequence[_core.Future] = (),
    ) -> np.ndarray:
        """Returns the elements as a new NumPy array, or in `out`.

        WAITS for the earlier work of the queue (by default the device's default queue) and for the
        copy.
        """
        if out is not None and not isinstance(out, np.ndarray):
            raise WrongType(f"The target of a download ({describe(out)}) is not a NumPy array.")
        if out is not None and out.shape != self.shape:
            raise Error(
                Code.INVALID_ARGUMENT,
                f"An array of shape {self.shape} is to be put into one of shape {out.shape}.",
            )
        queue = queue or self.device.default_queue
        if self.on_host:
            queue._core.barrier(futures(after)).wait()
            values = self.numpy().copy() if out is None else self.numpy()
        else:
            staging = self.device.empty(self.shape, self.dtype, memory="host")
            queue._core.copy(self, staging, self.nbytes, futures(after)).wait()
            values = staging.numpy()  # the view keeps the staging memory
        if out is None:
            return values
        np.copyto(out, convert(values, out.dtype))
        return out

    def fill(
        self, value: Any, queue: Optional["Queue"] = None, after: Sequence[_core.Future] = ()
    ) -> _core.Future:
        """Sets every element, in the order of `queue` or the device's default queue. The array's
        type has to hold the value; a float is rounded."""
        element = convert(value, self.dtype)
        if element.ndim != 0:
            raise Error(
                Code.INVALID_ARGUMENT,
                f"A fill is given values of shape {element.shape}. It takes one value; use upload "
                f"for several.",
            )
        queue = queue or self.device.default_queue
        return queue._core.fill(self, element.tobytes(), self.nbytes, futures(after))

    def copy_from(
        self,
        source: "Array",
        queue: Optional["Queue"] = None,
        after: Sequence[_core.Future] = (),
    ) -> _core.Future:
        """Copies the bytes of an array of the same size, in the order of `queue`."""
        if not isinstance(source, Array):
            raise WrongType(f"The source of a copy ({describe(source)}) is not a halyard.Array.")
        if source.nbytes != self.nbytes:
            raise Error(
                Code.INVALID_ARGUMENT,
                f"An array of {self.nbytes} bytes is given one of {source.nbytes} bytes.",
            )
        queue = queue or self.device.default_queue
        return queue._core.copy(source, self, self.nbytes, futures(after))

    def prefetch(
        self,
        to: str = "device",
        queue: Optional["Queue"] = None,
        after: Sequence[_core.Future] = (),
    ) -> _core.Future:
        """Moves the pages of an array in managed memory (Device.empty(..., memory="managed")) to
        the queue's GPU ("device") or to the host ("host"). A hint: the contents stay the same."""
        if to not in ("device", "host"):
            raise Error(
                Code.INVALID_ARGUMENT,
                f'The target of a prefetch ("{to}") does not exist. Legal are device, host.',
            )
        queue = queue or self.device.default_queue
        return queue._core.prefetch(self, to == "host", futures(after))

    def advise(self, advice: str) -> None:
        """Advises the runtime on an array in managed memory: "read mostly", "prefer device",
        "prefer host", "prefer nothing", "accessed by device", or "not read mostly", "not accessed
        by device". The GPU is the array's device."""
        self.device._core.advise(self, advice_number(advice))

    def export_ipc(self) -> bytes:
        """A handle for another process, for its Device.import_ipc.

        Only for an array in device memory from Device.empty; it must outlive the imports.
        """
        return _core.Memory.export_ipc(self)

    def export_dmabuf(self) -> Dmabuf:
        """The memory as a Linux dma-buf, which a process that gets the descriptor
        (socket.send_fds, or pass_fds of subprocess) can import by Device.import_dmabuf or map.
        Close the descriptor by os.close; it is closed on exec.

        Only for an array in device memory from Device.empty, which must outlive the use by others.
        An Error (UNIMPLEMENTED) if the vendor's runtime has no dma-bufs (HSA runtimes before 5.6).
        """
        return Dmabuf(*_core.Memory.export_dmabuf(self))

    def __dlpack__(self, stream: Any = None) -> Any:
        """A DLPack capsule over this memory, without a copy. Does not wait: first wait for the work
        that writes the elements."""
        code = _DLPACK_CODES.get(self.dtype.kind)
        if code is None or not self.dtype.isnative:
            raise BufferError(f"DLPack has no type for {self.dtype!r}.")
        return _core.to_dlpack(self, code, self.dtype.itemsize * 8, self.device.ordinal)

    def __dlpack_device__(self) -> Tuple[int, int]:
        """(1, 0) for memory that the host can access, (10, ordinal) for device memory."""
        return (1, 0) if self.on_host else (10, self.device.ordinal)


def _format_of(dtype: np.dtype) -> str:
    """The element's format in the buffer protocol."""
    try:
        return memoryview(np.empty(0, dtype)).format
    except (ValueError, BufferError):
        return f"{dtype.itemsize}s"


class _Bytes:
    """The bytes of an array of any element type; keeps the array alive."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.__array_interface__ = {
            "version": 3,
            "shape": (array.nbytes,),
            "typestr": "|u1",
            "data": (array.host_address, False),
        }
