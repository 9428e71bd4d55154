"""Values that stand for something else in a launch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceAddress:
    """An address that is passed to a kernel unchecked. Its memory is not kept alive."""

    value: int
