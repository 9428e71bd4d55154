"""Devices: GPUs, opened by URI."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._array import Array, memory_type
from ._checks import convert, describe, text, to_shape, to_size, whole
from ._errors import Code, Error, WrongType
from ._kernel import DeviceAddress, Module
from ._queue import PRIORITIES, Queue


# In the order of halyard_profile_kind.
KINDS = (
    "unknown",
    "dispatch",
    "copy",
    "fill",
    "update",
    "host_call",
    "read",
    "write",
    "barrier",
    "alloca",
    "dealloca",
)
KEEP_NONE = 2**64 - 1  # HALYARD_KEEP_NONE


@dataclass(frozen=True)
class ProfileEvent:
    """One operation, in nanoseconds of CLOCK_MONOTONIC.

    name: a kernel's, or the kind. kind: "dispatch", "copy", "fill" and so on. queue: Queue.id.
    bytes: that a transfer writes. execution, command: the execution of a recording and the position
    in it; 0 outside a recording. grid, block: of a launch, in work-items; the grid is (0, 0, 0) if
    only the device knows it.
    """

    name: str
    begin_ns: int
    end_ns: int
    kind: str
    queue: int
    bytes: int
    execution: int
    command: int
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]

    @property
    def duration_ns(self) -> int:
        """The duration of the operation."""
        return self.end_ns - self.begin_ns


class Profile:
    """`with device.profile() as profile:` records the work that the block submits. The block's end
    WAITS for that work; then profile.events has one ProfileEvent for each operation."""

    events: List[ProfileEvent]

    def __init__(self, device: "Device", kinds: Sequence[str] = ()) -> None:
        for kind in kinds:
            if kind not in KINDS[1:]:
                raise Error(
                    Code.INVALID_ARGUMENT,
                    f'The kind of operation ("{kind}") does not exist. Legal are '
                    f"{', '.join(KINDS[1:])}.",
                )
        self._device = device
        self._kinds = sum({1 << KINDS.index(kind) for kind in kinds})
        self.events = []

    def __enter__(self) -> "Profile":
        self._device._core.begin_profile(self._kinds)
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        try:
            self.events = [ProfileEvent(*event) for event in self._device._core.end_profile()]
        except Error:
            if kind is None:
                raise  # otherwise the block's own exception says more

    def totals(self) -> Dict[str, int]:
        """The sum of the durations for each name, in nanoseconds."""
        totals: Dict[str, int] = {}
        for event in self.events:
            totals[event.name] = totals.get(event.name, 0) + event.duration_ns
        return totals


class Pool:
    """Memory in queue order with its own limit: Queue.empty. Made by Device.pool."""

    device: "Device"

    def __init__(self, device: "Device", core: _core.Pool) -> None:
        self.device = device
        self._core = core

    @property
    def statistics(self) -> Dict[str, int]:
        """reserved_bytes (allocated from the heap), used_bytes (in arrays), peak_reserved_bytes,
        allocations, and reuses of memory."""
        return self._core.statistics

    def trim(self, keep: int = 0) -> None:
        """Frees unused memory until the pool has at most `keep` bytes of it."""
        self._core.trim(whole("number of bytes to keep", keep))


def _handle(what: str, handle: Any) -> bytes:
    """The bytes that another process has exported."""
    if isinstance(handle, (bytes, bytearray, memoryview)):
        return bytes(handle)
    raise WrongType(f"The {what} ({describe(handle)}) is not bytes, as an export gives them.")


class Device:
    """A GPU. Made by halyard.open; any thread may use it."""

    uri: str

    def __init__(self, uri: str, core: _core.Device) -> None:
        self.uri = uri
        self._core = core
        self._default_queue: Optional[Queue] = None
        self._ordinal: Optional[int] = None

    @property
    def info(self) -> Dict[str, Any]:
        """The facts and limits, under the names that `halyard dump devices --json` gives them."""
        return self._core.info

    @property
    def name(self) -> str:
        """ "Radeon RX Vega 64"."""
        return self.info["name"]

    @property
    def driver(self) -> str:
        """ "amdgpu"."""
        return self.info["driver"]

    @property
    def target(self) -> str:
        """ "gfx90a:sramecc+:xnack-"."""
        return self.info["target"]

    @property
    def ordinal(self) -> int:
        """The index among the driver's devices, from 0 on."""
        if self._ordinal is None:
            self._ordinal = _core.ordinal_of(self.driver, self.info["uuid"])
        return self._ordinal

    def __repr__(self) -> str:
        return f"<halyard.Device {self.uri}: {self.name}, {self.target}>"

    # ---- Memory

    def empty(
        self,
        shape: Union[int, Sequence[int]],
        dtype: Any = np.float32,
        memory: str = "device",
        gpu: int = 0,
        shared: bool = False,
    ) -> Array:
        """An uninitialized array.

        memory: "device" (the device's own, which the host cannot access), "host" (the host's,
        pinned), or "device-mapped" (the device's own, mapped for the host; not on every device).
        gpu: the GPU of a logical device whose memory is used; shared: every GPU can use it by its
        address alone. A GPU that is given the array itself can always use it.
        """
        shape = to_shape(shape)
        size = to_size(shape, np.dtype(dtype))
        managed = memory == "managed"
        memory_ = self._core.allocate(
            size,
            memory_type("host" if managed else memory),
            whole("index of a GPU", gpu, 0, 2**32 - 1),
            bool(shared),
            managed,
        )
        return Array(memory_, self, shape, dtype)

    def array(self, data: Any, dtype: Any = None, memory: str = "device") -> Array:
        """A copy of the data, as `dtype` if that is given; it has to hold each value. WAITS for the
        copy."""
        data = np.asarray(data) if dtype is None else convert(data, np.dtype(dtype))
        array = self.empty(data.shape, data.dtype, memory)
        if array.on_host:
            np.copyto(array.numpy(), data)
        else:
            array.upload(data).wait()
        return array

    def zeros(
        self, shape: Union[int, Sequence[int]], dtype: Any = np.float32, memory: str = "device"
    ) -> Array:
        """An array of zeros. WAITS for the fill."""
        array = self.empty(shape, dtype, memory)
        self.default_queue._core.fill(array, b"\0", array.nbytes, []).wait()
        return array

    def from_dlpack(self, source: Any) -> Array:
        """An array over another library's memory, without a copy: of an object with __dlpack__
        (NumPy's arrays, PyTorch's tensors) or a capsule. The memory is kept until no work uses it.
        """
        capsule = source.__dlpack__() if hasattr(source, "__dlpack__") else source
        if type(capsule).__name__ != "PyCapsule":
            raise WrongType(
                f"The source ({describe(source)}) has no __dlpack__ and is no DLPack capsule."
            )
        memory, code, bits = _core.from_dlpack(self._core, capsule)
        kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(code)
        if kind is None:
            raise Error(
                Code.UNIMPLEMENTED, f"NumPy has no type for DLPack's type code ({code})."
            )
        return Array(memory, self, tuple(memory.shape), np.dtype(f"{kind}{bits // 8}"))

    def from_pointer(
        self,
        pointer: int,
        shape: Union[int, Sequence[int]],
        dtype: Any = np.float32,
        owner: Any = None,
    ) -> Array:
        """An array over device memory of the vendor's runtime in this process (hipMalloc). `owner`
        stays alive until no work uses the memory."""
        shape = to_shape(shape)
        size = to_size(shape, np.dtype(dtype))
        pointer = whole("pointer", pointer)
        return Array(self._core.import_pointer(pointer, size, owner), self, shape, dtype)

    def import_ipc(
        self, handle: bytes, shape: Union[int, Sequence[int]], dtype: Any = np.float32
    ) -> Array:
        """An array over another process's memory, by the handle of its Array.export_ipc."""
        shape = to_shape(shape)
        size = to_size(shape, np.dtype(dtype))
        return Array(
            self._core.import_ipc(_handle("IPC handle", handle), size), self, shape, dtype
        )

    def import_dmabuf(
        self,
        fd: int,
        shape: Union[int, Sequence[int]],
        dtype: Any = np.float32,
        offset: int = 0,
    ) -> Array:
        """An array over the memory of a Linux dma-buf, from the byte `offset` on, by a descriptor
        such as Array.export_dmabuf gives it. The descriptor stays the caller's, and may be closed
        at once."""
        shape = to_shape(shape)
        size = to_size(shape, np.dtype(dtype))
        fd = whole("descriptor of a dma-buf", fd, -(2**31), 2**31 - 1)
        offset = whole("offset in a dma-buf", offset)
        return Array(self._core.import_dmabuf(fd, offset, size), self, shape, dtype)

    def pool(self, memory: str = "device", limit: int = 0, keep: Optional[int] = None) -> Pool:
        """A pool for Queue.empty. limit: the most bytes that it reserves; 0: no limit. keep: the
        unused bytes that it keeps; None: as the device's own pools."""
        limit = whole("limit of a pool", limit, 0, 2**63 - 1)
        keep = None if keep is None else whole("number of bytes to keep", keep, 0, 2**63 - 1)
        kept = 0 if keep is None else KEEP_NONE if keep == 0 else keep
        return Pool(self, self._core.create_pool(memory_type(memory), limit, kept))

    def find_allocation(self, address: int) -> Dict[str, Any]:
        """The allocation that contains an address of the device or the host:
        memory_type, owner ("device", "imported", "host memory"), device_address, size, and
        host_address, which is 0 if the host cannot access it. An Error
        (NOT_FOUND) if there is none."""
        return self._core.find_allocation(whole("address", address))

    def read_clocks(self) -> Dict[str, int]:
        """The clocks at one moment: device_ticks (what wall_clock64() reads in a kernel),
        device_hz, host_ns of CLOCK_MONOTONIC, and uncertainty_ns."""
        return self._core.read_clocks()

    def heap_statistics(self) -> List[Dict[str, int]]:
        """The allocations through this device."""
        return self._core.heap_statistics()

    # ---- Kernels, queues, semaphores

    def load(self, file: Union[str, "os.PathLike[str]", bytes]) -> Module:
        """Loads a file with kernels, by its path or its bytes: a code object, an offload bundle, a
        program or library of hipcc's, an archive or a folder of these."""
        if isinstance(file, (bytes, bytearray, memoryview)):
            return Module(self, self._core.load_bytes(bytes(file)))
        if not isinstance(file, (str, os.PathLike)):
            raise WrongType(
                f"The file with kernels ({describe(file)}) is neither a path (str or PathLike) nor "
                f"bytes."
            )
        return Module(self, self._core.load_file(os.fsencode(file)))

    @property
    def default_queue(self) -> Queue:
        """The queue for operations without a queue argument; created on first use."""
        if self._default_queue is None:
            self._default_queue = self.queue()
        return self._default_queue

    @property
    def gpu_count(self) -> int:
        """The number of GPUs of a logical device; 1 for any other device."""
        return self.info["gpu_count"]

    def queue(self, priority: str = "normal", gpu: int = 0) -> Queue:
        """A new queue; priority: "low", "normal" or "high". gpu: the GPU of a logical device that
        runs its work."""
        if priority not in PRIORITIES:
            raise Error(
                Code.INVALID_ARGUMENT,
                f'The priority ("{priority}") does not exist. Legal are {", ".join(PRIORITIES)}.',
            )
        gpu = whole("index of a GPU", gpu, 0, 2**32 - 1)
        return Queue(self, self._core.create_queue(PRIORITIES.index(priority), gpu))

    def import_queue(self, native: int) -> Queue:
        """A queue over a queue of the vendor runtime (hipStream_t), which must outlive it."""
        return Queue(self, self._core.import_queue(whole("native queue", native)))

    def semaphore(self, value: int = 0) -> _core.Semaphore:
        """A semaphore with an initial value."""
        return self._core.create_semaphore(whole("value of a semaphore", value))

    def import_semaphore(self, handle: bytes) -> _core.Semaphore:
        """A semaphore on another process's timeline, by the handle of its Semaphore.export."""
        return self._core.import_semaphore(_handle("semaphore's handle", handle))

    def profile(self, kinds: Sequence[str] = ()) -> Profile:
        """Records the work of a block: `with device.profile() as profile:`. kinds: of operations,
        such as ["dispatch", "copy"]; () means all."""
        return Profile(self, kinds)

    def can_access(self, peer: "Device") -> bool:
        """Whether this device's work can use arrays of the peer."""
        if not isinstance(peer, Device):
            raise WrongType(f"The peer ({describe(peer)}) is not a halyard.Device.")
        return self._core.can_access(peer._core)

    def fault(self) -> None:
        """Raises the failure that lost the device; returns while it works."""
        self._core.fault()


def open(  # noqa: A001, the module's own: halyard.open
    uri: str = "amdgpu",
    vgpu: Union[bool, str, None] = None,
    options: Optional[Dict[str, str]] = None,
) -> Device:
    """Opens a device: "amdgpu" (all GPUs of the driver, as one device), "hip:1", "amdgpu://0,1",
    "amdgpu://GPU-0123456789abcdef?key=value".

    vgpu: a profile ("gfx90a"), or True for the default one, loads the virtual GPU into this
    process, which needs no hardware. Only the first open can select it.
    options: of the device; they override the URI's.
    """
    text("URI of a device", uri)
    known = {
        text("key of an option", key): text(f"value of the option {key}", value)
        for key, value in dict(options or {}).items()
    }
    if vgpu:
        load_virtual_gpu("" if vgpu is True else vgpu)
    return Device(uri, _core.open_device(uri, known))


def load_virtual_gpu(profile: str = "") -> None:
    """Loads the virtual GPU into this process, permanently, before any device is opened."""
    _core.load_virtual_gpu(text("profile of the virtual GPU", profile))


def drivers() -> List[Dict[str, Any]]:
    """The drivers that can be loaded, each with its devices."""
    return _core.drivers()


def load_report() -> str:
    """The outcome for every file that could be a driver."""
    return _core.load_report()


__all__ = [
    "Device",
    "DeviceAddress",
    "Pool",
    "Profile",
    "ProfileEvent",
    "drivers",
    "load_report",
    "load_virtual_gpu",
    "open",
]
