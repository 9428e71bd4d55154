"""What callers give: nothing is rounded to an int, wrapped around or cut off without a word."""

from __future__ import annotations

import ctypes
import math
import operator
from typing import Any, List, NoReturn, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._errors import Code, Error, WrongType


def describe(value: Any) -> str:
    """A description of a value for a message."""
    if isinstance(value, _core.Memory):
        return "an Array"
    if isinstance(value, (np.generic, np.ndarray)):
        shown = f"{value}, " if np.ndim(value) == 0 and value.dtype.kind in "biufc" else ""
        return f"{shown}a NumPy {value.dtype} of {value.nbytes} bytes"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{len(bytes(value))} bytes"
    if isinstance(value, ctypes._SimpleCData):
        return f"{value.value!r} ({type(value).__name__})"
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def whole(what: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number in a range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongType(
            f"The {what} ({describe(value)}) is not a whole number. Legal are {least} to {most}."
        ) from None
    if not least <= number <= most:
        raise Error(
            Code.INVALID_ARGUMENT,
            f"The {what} ({number}) is out of range. Legal are {least} to {most}.",
        )
    return number


def text(what: str, value: Any) -> str:
    """A text; _core refuses a NUL in it."""
    if isinstance(value, str):
        return value
    raise WrongType(f"The {what} ({describe(value)}) is not text (str).")


def futures(after: Sequence[_core.Future]) -> List[_core.Future]:
    """The futures that an operation waits for."""
    if type(after) in (tuple, list) and not after:
        return []
    try:
        waits = list(after)
    except TypeError:
        waits = [after]
        after = None  # type: ignore[assignment]
    for future in waits:
        if after is None or not isinstance(future, _core.Future):
            raise WrongType(
                f"The argument after holds {describe(future)}. Legal is a list of Futures, such as "
                f"[future] or []."
            )
    return waits


def to_shape(shape: Union[int, Sequence[int]]) -> Tuple[int, ...]:
    """A shape as a tuple; an int is a shape of one dimension."""
    lengths = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) and np.ndim(shape) else (shape,)
    return tuple(whole("length of a dimension", length, 0, 2**63 - 1) for length in lengths)


def to_size(shape: Tuple[int, ...], dtype: np.dtype) -> int:
    """The bytes of an array, which has at least one."""
    size = math.prod(shape) * dtype.itemsize
    if 0 < size < 1 << 63:
        return size
    raise Error(
        Code.INVALID_ARGUMENT,
        f"An array of shape {shape} has {size} bytes. Legal are 1 and more.",
    )


def _range_of(dtype: np.dtype) -> str:
    """The values that a type holds, in words."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return f"whole numbers from {info.min} to {info.max}"
    if dtype.kind == "b":
        return "False and True (0 and 1)"
    if dtype.kind == "f":
        return f"numbers from {np.finfo(dtype).min} to {np.finfo(dtype).max}, inf and nan"
    if dtype.kind == "c":
        return "complex numbers"
    if dtype.kind == "S":
        return f"up to {dtype.itemsize} bytes"
    if dtype.kind == "U":
        return f"up to {dtype.itemsize // 4} characters"
    return f"values of {dtype}"


def _refuse(given: np.ndarray, fits: np.ndarray, dtype: np.dtype) -> NoReturn:
    """Raises the error for the first value that does not fit."""
    place = tuple(int(i) for i in np.argwhere(~np.broadcast_to(fits, given.shape))[0])
    value = given[place] if place else given[()]
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    where = f" at {list(place)}" if place else ""
    raise Error(
        Code.INVALID_ARGUMENT,
        f"The value {shown}{where} does not fit the type {dtype}, which holds {_range_of(dtype)}.",
    )


def _fitting(given: np.ndarray, dtype: np.dtype) -> Any:
    """Which of the values the type holds, apart from the rounding of floats."""
    if given.dtype.kind == "O":
        one_by_one = [np.asarray(value) for value in given.ravel()]
        fits_one = [one.dtype.kind != "O" and np.all(_fitting(one, dtype)) for one in one_by_one]
        return np.asarray(fits_one, bool).reshape(given.shape)
    number = given.dtype.kind in "biuf"
    if dtype.kind in "iub" and number:
        low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if given.dtype.kind == "f":
            # high + 1 is a power of two, so that it is exact as a float.
            with np.errstate(invalid="ignore"):
                return (np.trunc(given) == given) & (given >= float(low)) & (given < float(high + 1))
        info = np.iinfo(np.uint8 if given.dtype.kind == "b" else given.dtype)
        # Only a limit that the given type has can be compared with its values.
        fits = np.ones(given.shape, bool)
        if low > info.min:
            fits &= given >= given.dtype.type(low)
        if high < info.max:
            fits &= given <= given.dtype.type(high)
        return fits
    if dtype.kind == "f" and number or dtype.kind == "c" and (number or given.dtype.kind == "c"):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.isfinite(given.astype(dtype)) | ~np.isfinite(given)
    if dtype.kind in "SU" and given.dtype.kind == dtype.kind:
        return given.astype(dtype) == given
    return False


def convert(data: Any, dtype: np.dtype) -> np.ndarray:
    """The data as an array of that type. INVALID_ARGUMENT names the first value that the type does
    not hold; floats are rounded."""
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype == dtype:
        return np.asarray(data)
    if dtype.fields is not None:
        # Each field as it was given.
        objects = np.asarray(data, dtype=[(name, object) for name in dtype.names])
        converted = np.empty(objects.shape, dtype)
        for name in dtype.names:
            field = dtype.fields[name][0]
            if field.subdtype is not None:
                return np.asarray(data, dtype=dtype)
            column = objects[name]
            converted[name] = convert(column.tolist(), field).reshape(objects.shape)
        return converted
    if dtype.kind not in "iubfcSU":
        return np.asarray(data, dtype=dtype)  # a type of other libraries: their rules
    given = np.asarray(data)
    if dtype.kind in "iu" and given.dtype.kind == "f" and isinstance(data, (list, tuple)):
        given = np.asarray(data, dtype=object)  # NumPy makes floats of large integers
    fits = _fitting(given, dtype)
    if not np.all(fits):
        _refuse(given, np.asarray(fits), dtype)
    return given.astype(dtype)
