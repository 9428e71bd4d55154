"""Queues: where a device takes its work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from . import _core

if TYPE_CHECKING:
    from ._device import Device

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

    def after(self, *futures: _core.Future) -> _core.Future:
        """Later work waits for the futures, which may be other queues'."""
        return self._core.barrier(list(futures))

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
        work of the same queue. An exception fails the operation."""
        return self._core.host_call(function, list(after))

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
