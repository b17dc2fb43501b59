"""Contacts and impacts in a recording, one row each.

Contacts come sample after sample, and ``contact_count`` says how many rows a sample has; impacts have a time of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tumble.sim.ledger.readings import CONTACT_ROW
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE, TAIL, Sums, checksum_table, make_table, put_full, writable

# unit and meaning of the fields of readings.CONTACT_ROW
CONTACT_FIELDS = {
    "body_a": ("1", "first body, a row of partner"),
    "body_b": ("1", "second body, a row of partner"),
    "point": ("m", "point of contact"),
    "normal": ("1", "normal, from the first body to the second"),
    "gap": ("m", "signed distance, negative where they overlap"),
    "impulse": ("N s", "impulse of the kick: normal, and along two tangents"),
    "force": ("N", "force on the second body, mean over a step"),
    "moment": ("N m", "moment on the second body by rolling and torsional friction"),
    "slip": ("m s-1", "velocity of the second surface against the first, in the middle of the kick"),
    "friction": ("1", "coefficient that bounds the impulse"),
    "feature": ("1", "id that stays from step to step"),
    "piece_a": ("1", "convex piece of the first body"),
    "piece_b": ("1", "convex piece of the second body"),
    "loss": ("J", "energy taken by friction and a slow landing"),
    "residual": ("m s-1", "what the solve missed the law by"),
}

IMPACT_ROW = np.dtype(
    [
        ("time", float), ("step", np.int64), ("body_a", np.int32), ("body_b", np.int32), ("point", float, 3),
        ("normal", float, 3), ("impulse", float, 3), ("loss", float), ("speed", float),
    ]
)  # fmt: skip
IMPACT_FIELDS = {
    "time": ("s", "instant of the impact"),
    "step": ("1", "number of the step after which it was told"),
    "body_a": CONTACT_FIELDS["body_a"],
    "body_b": CONTACT_FIELDS["body_b"],
    "point": ("m", "where it acts, the mean over the points by their load"),
    "normal": CONTACT_FIELDS["normal"],
    "impulse": ("N s", "impulse on the second body"),
    "loss": ("J", "energy taken by friction and restitution"),
    "speed": ("m s-1", "approach of the fastest point"),
}
TABLES = {"contact": (CONTACT_ROW, CONTACT_FIELDS), "impact": (IMPACT_ROW, IMPACT_FIELDS)}


def dims(table: str, field: str) -> tuple[str, ...]:
    """Dimensions of a field; the impulse of a contact is in the axes of the contact, all else in those of the world."""
    if TABLES[table][0][field].shape == ():
        return (table,)
    return (table, "axis" if (table, field) == ("contact", "impulse") else "xyz")


CONTACT_AXES = ("normal", "first", "second")


def rows(world: Any, number: dict[int, int], chosen: int) -> np.ndarray:
    """The contacts of a world that one of the ``chosen`` first bodies takes part in; ``number``: of each body by its id."""
    out = world.contacts()
    of = np.array([number[id(body)] for body in world.bodies], dtype=np.int32)
    out["body_a"], out["body_b"] = of[out["body_a"]], of[out["body_b"]]
    return out if chosen == len(number) else out[(out["body_a"] < chosen) | (out["body_b"] < chosen)]


def impact_rows(step: int, events: Sequence[Any], number: dict[int, int], chosen: int) -> np.ndarray:
    """The impacts among the events that one of the ``chosen`` first bodies takes part in; bodies that came later are -1."""
    found = [
        (e.time, step, number.get(id(e.a), -1), number.get(id(e.b), -1), e.point, e.normal, e.impulse, e.loss, e.speed)
        for e in events
        if e.kind == "impact"
    ]
    out = np.array(found, IMPACT_ROW)
    if chosen == len(number):
        return out
    a, b = out["body_a"], out["body_b"]
    return out[((a >= 0) & (a < chosen)) | ((b >= 0) & (b < chosen))]


class RowStore:
    """The arrays of contacts or impacts in a Zarr group, ``length`` rows of them; rows wait until they are flushed."""

    def __init__(self, table: str, group: Any, length: int = 0, run: Any = None):
        self.kind = TABLES[table][0]
        self.names = {field: f"{table}_{field}" for field in self.kind.names}
        self.arrays = dict(zip(self.kind.names, writable(group, list(self.names.values())), strict=True))
        self.waiting: list[np.ndarray] = []
        self.length = length
        first = next(iter(self.arrays.values()))
        begin = length - length % first.chunks[0]
        self.sums = Sums(list(self.names.values()), first.chunks[0], begin)
        self.table = checksum_table(group, f"{CHECKSUM_TABLE}_{table}")
        self.longer = first.shape[0], {}  # than what is kept: rows that are there, and their checksums
        if run is not None:
            self.longer = first.shape[0], run.attributes.get(TAIL, {})
            self.sums.add({name: run.part(name, slice(begin, length)) for name in self.sums.names})

    @staticmethod
    def create(table: str, group: Any, chunk: int, codec: Any) -> None:
        kinds, fields = TABLES[table]
        make_table(group, f"{CHECKSUM_TABLE}_{table}", [f"{table}_{field}" for field in fields])
        for field, (unit, text) in fields.items():
            kind, shape = kinds[field].base, kinds[field].shape
            group.create_array(
                f"{table}_{field}", shape=(0, *shape), chunks=(chunk, *shape), dtype=kind, dimension_names=dims(table, field),
                compressors=codec, fill_value=np.nan if kind.kind == "f" else 0, attributes={"units": unit, "long_name": text},
            )  # fmt: skip

    def flush(self) -> None:
        """Append the rows that wait."""
        new = np.concatenate(self.waiting) if self.waiting else np.zeros(0, self.kind)
        if len(new):
            for field, array in self.arrays.items():
                if array.shape[0] < self.length + len(new):
                    array.resize((self.length + len(new), *array.shape[1:]))
                array[self.length : self.length + len(new)] = new[field]
            done = self.sums.length - self.length  # by a flush before that failed half way
            self.sums.add({name: new[field][done:] for field, name in self.names.items()})
            put_full(self.table, self.sums)
        self.length += len(new)
        self.waiting.clear()

    def tail(self) -> dict[str, int]:
        """Checksums of the rows of the last chunk."""
        length, before = self.longer
        return self.sums.tail if self.length >= length else {name: before[name] for name in self.sums.names if name in before}

    def close(self) -> None:
        """Cut off what was there from before, beyond the last row."""
        for array in self.arrays.values():
            if array.shape[0] > self.length:
                array.resize((self.length, *array.shape[1:]))
        self.longer = self.length, {}
