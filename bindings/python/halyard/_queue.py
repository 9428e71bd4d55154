"""Queues: where a device takes its work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._array import Array
from ._checks import describe, futures, to_shape, to_size
from ._errors import WrongType

if TYPE_CHECKING:
    from ._device import Device, Pool

PRIORITIES = ("normal", "low", "high")


class Queue:
    """Runs a device's work in order. Every operation returns a Future at once.

    The first operation that fails makes every later Future fail with its message: then make
    another queue. Any thread may use a queue.
    """

    device: "Device"

    def __init__(self, device: "Device", core: _core.Queue) -> None:
        self.device = device
        self._core = core

    @property
    def id(self) -> int:
        """The queue's number in ProfileEvent.queue; no other queue of the process has it."""
        return self._core.id

    def empty(
        self, shape: Union[int, Sequence[int]], pool: "Pool", dtype: Any = np.float32
    ) -> Array:
        """An array of a pool's memory, for this queue's work, and for what waits for that; the host
        may use it (memory="host") when the queue has come so far. The memory goes back to the pool
        when the array is gone and no work uses it."""
        shape = to_shape(shape)
        size = to_size(shape, np.dtype(dtype))
        return Array(self._core.allocate(pool._core, size), self.device, shape, dtype)

    def after(self, *after: _core.Future) -> _core.Future:
        """Later work waits for the futures, which may be other queues'."""
        return self._core.barrier(futures(after))

    def future(self) -> _core.Future:
        """The end of all that was submitted so far."""
        return self._core.barrier([])

    def wait(self, timeout: Optional[float] = None) -> None:
        """WAITS for all that was submitted so far; timeout in seconds."""
        self.future().wait(timeout)

    def call(
        self, function: Callable[[], Any], after: Sequence[_core.Future] = ()
    ) -> _core.Future:
        """Calls a Python function in queue order, on a thread of the driver's. It must not wait for
        work of the same queue. An exception fails the operation. A function whose turn has not
        come when the interpreter ends is not called."""
        if not callable(function):
            raise WrongType(f"The function of a queue's call ({describe(function)}) is not callable.")
        return self._core.host_call(function, futures(after))

    def fault(self) -> None:
        """Raises why the queue takes no work any more; returns while it does."""
        self._core.fault()

    def abandon(self) -> None:
        """Gives up what is queued and not done: its Futures fail with CANCELLED."""
        self._core.abandon()

    @property
    def native_handle(self) -> int:
        """The vendor runtime's own queue: hsa_queue_t* or hipStream_t."""
        return self._core.native_handle
