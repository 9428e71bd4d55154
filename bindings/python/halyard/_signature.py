"""Types of kernel arguments: of C, of OpenCL C, of NumPy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Union

import numpy as np

from ._checks import describe
from ._errors import Code, Error, WrongType

Signature = Union[str, Sequence[Any]]

# Of AMD GPUs and their host: long has 8 bytes.
_NAMES = {
    **{name: "?" for name in ("bool", "_Bool")},
    **{name: "u1" for name in ("uchar", "uint8_t")},
    **{name: "u2" for name in ("ushort", "uint16_t")},
    **{name: "u4" for name in ("uint", "uint32_t")},
    **{name: "u8" for name in ("ulong", "uint64_t", "size_t", "uintptr_t")},
    **{"int8_t": "i1", "int16_t": "i2", "int32_t": "i4"},
    **{name: "i8" for name in ("int64_t", "ptrdiff_t", "intptr_t", "ssize_t")},
    **{name: "f2" for name in ("half", "_Float16", "__half", "__fp16")},
    **{"float": "f4", "double": "f8"},
}
_INTEGER_WORDS = {"signed", "unsigned", "char", "short", "int", "long"}
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "register"}
_SPACES = {"global", "__global", "local", "__local", "constant", "__constant", "private", "__private"}


@dataclass(frozen=True)
class Type:
    """What a signature says of an argument."""

    text: str  # as it was given
    is_pointer: bool = False
    dtype: Optional[np.dtype] = None  # of a number
    name: str = ""


def _integer(words: Sequence[str]) -> Optional[np.dtype]:
    """unsigned long int, in any order."""
    if not words or not set(words) <= _INTEGER_WORDS or {"signed", "unsigned"} <= set(words):
        return None
    counts = {word: words.count(word) for word in words}
    longs = counts.pop("long", 0)
    if longs > 2 or any(count > 1 for count in counts.values()):
        return None
    if "char" in counts and (longs or "short" in counts or "int" in counts):
        return None
    if "short" in counts and longs:
        return None
    size = 1 if "char" in counts else 2 if "short" in counts else 8 if longs else 4
    return np.dtype(f"{'u' if 'unsigned' in counts else 'i'}{size}")


def scalar(name: str) -> Optional[np.dtype]:
    """The type of a number that C or OpenCL C calls `name`; None: it is none, or not known."""
    if name in _NAMES:
        return np.dtype(_NAMES[name])
    return _integer(name.split())


def _parse(text: str) -> Optional[Type]:
    """A parameter of C: "const float* restrict a", "unsigned n", "struct Shape"."""
    words = re.findall(r"\w+|\*|\S", text)
    words = [word for word in words if word not in _QUALIFIERS]
    if "*" in words:
        pointee, after = words[: words.index("*")], words[words.index("*") :]
        names = [word for word in after if word != "*"]
        if not all(re.fullmatch(r"\w+", word) for word in pointee + names) or len(names) > 1:
            return None
        return Type(text, is_pointer=True, name="".join(names))
    words = [word for word in words if word not in _SPACES]
    if words[:1] in (["struct"], ["union"]) and len(words) in (2, 3):
        return Type(text, name="".join(words[2:]))
    dtype = scalar(" ".join(words))
    if dtype is not None:
        return Type(text, dtype=dtype)
    dtype = scalar(" ".join(words[:-1]))
    name = "".join(words[-1:])
    is_name = re.fullmatch(r"[A-Za-z_]\w*", name) and name not in {*_NAMES, *_INTEGER_WORDS}
    return Type(text, dtype=dtype, name=name) if dtype is not None and is_name else None


def _one(given: Any, index: int) -> Type:
    """An entry of a signature."""
    if isinstance(given, str):
        parsed = _parse(given.strip())
        if parsed is not None:
            return parsed
    if given is not None:
        try:
            dtype = np.dtype(given)
        except TypeError:
            dtype = np.dtype(object)
        if dtype.kind in "biufc":
            return Type(str(dtype), dtype=dtype)
        if dtype.kind == "V":
            return Type(str(given))  # a structure
    shown = f'"{given.strip()}"' if isinstance(given, str) else describe(given)
    raise Error(
        Code.INVALID_ARGUMENT,
        f"Entry {index} of the signature ({shown}) is not a type. Legal are pointers "
        f"(const float*), numbers of C (unsigned, float, int64_t) and of NumPy (float32), and "
        f"structures (struct Shape).",
    )


def parse_signature(signature: Signature) -> List[Type]:
    """The types of "const float*, float*, unsigned n", or of a list of types. Text can also be a
    whole declaration: "void scale(const float* a, unsigned n)"."""
    if isinstance(signature, str):
        text = signature.strip()
        if text.endswith(")") and "(" in text:
            text = text[text.index("(") + 1 : -1].strip()
        entries: Sequence[Any] = [] if text in ("", "void") else text.split(",")
    elif isinstance(signature, (list, tuple)):
        entries = signature
    else:
        raise WrongType(
            f"The signature ({describe(signature)}) is neither text nor a list. Legal are "
            f'"const float*, unsigned" and ["float*", "uint32"].'
        )
    return [_one(entry, index) for index, entry in enumerate(entries)]
