"""Failures: a code, and a sentence that says what is wrong and what to do."""

from __future__ import annotations

import enum
import traceback


class Code(enum.IntEnum):
    """Abseil's canonical codes."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class Error(RuntimeError):
    """What every failure of Halyard raises."""

    code: Code
    message: str

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message

    def __reduce__(self):  # as pickle would otherwise give __init__ the text alone
        return (type(self), (self.code, self.message))


class DeadlineExceeded(Error, TimeoutError):
    """A wait has ended before what it waited for. The work goes on."""


class OutOfMemory(Error, MemoryError):
    """There is no room: RESOURCE_EXHAUSTED."""


class WrongType(Error, TypeError):
    """An argument has a type that is not legal: INVALID_ARGUMENT."""

    def __init__(self, message: str) -> None:
        super().__init__(Code.INVALID_ARGUMENT, message)

    def __reduce__(self):
        return (type(self), (self.message,))


def describe_exception(error: BaseException) -> str:
    """The text for an operation that a Python function fails."""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return text
    return f"{text} ({frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name})"


def make_error(code: int, message: str) -> Error:
    """The exception for a code of the C interface."""
    known = Code(code) if code in Code._value2member_map_ else Code.UNKNOWN
    kinds = {Code.DEADLINE_EXCEEDED: DeadlineExceeded, Code.RESOURCE_EXHAUSTED: OutOfMemory}
    return kinds.get(known, Error)(known, message)
