"""Arrays as text: the bits of their numbers, for files that no person reads. A ground of millions of triangles has them so."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import Any

import numpy as np

from tumble.collision.errors import InputError

MOST_PLAIN = 10_000  # numbers that are written as lists; more are packed
MOST_NUMBERS = 2**25  # of a packed array: twice the samples of the largest field
KINDS = ("<f8", "<i4")


def packed(array: np.ndarray) -> Any:
    """An array as lists, or where it is long as a table of its kind, its shape and its bits."""
    if array.size <= MOST_PLAIN:
        return array.tolist()
    kind = KINDS[array.dtype.kind == "i"]
    bits = zlib.compress(np.ascontiguousarray(array, kind).tobytes(), 1)
    return {"kind": kind, "shape": list(array.shape), "bits": base64.b64encode(bits).decode("ascii")}


def unpacked(name: str, value: Any) -> Any:
    """What `packed` was given; anything else as it is. InputError: a table that is none of its own."""
    if not isinstance(value, dict):
        return value
    try:
        kind, shape, bits = value["kind"], tuple(map(int, value["shape"])), value["bits"]
        if kind not in KINDS or min(shape) < 0 or not 0 < math.prod(shape) <= MOST_NUMBERS:
            raise ValueError
        size = math.prod(shape) * np.dtype(kind).itemsize
        opened = zlib.decompressobj()
        raw = opened.decompress(
            base64.b64decode(bits, validate=True), size + 1
        )  # no more than that, whatever the bits would grow to
        if len(raw) != size:
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error, binascii.Error):
        raise InputError(name, {key: value[key] for key in ("kind", "shape") if key in value}, "is no packed array") from None
    return np.frombuffer(raw, kind).reshape(shape)
