"""Contacts in a recording: one row each, sample after sample; ``contact_count`` says how many rows a sample has."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.readings import CONTACT

# unit and meaning of the fields of readings.CONTACT
FIELDS = {
    "body_a": ("1", "row of the first body"),
    "body_b": ("1", "row of the second body"),
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


def dims(field: str) -> tuple[str, ...]:
    """Dimensions of a field; the impulse is in the axes of the contact, all else in those of the world."""
    if CONTACT[field].shape == ():
        return ("contact",)
    return ("contact", "axis" if field == "impulse" else "xyz")


AXES = ("normal", "first", "second")


def rows(world: Any, bodies: list[Any]) -> np.ndarray:
    """The contacts of a world; its bodies are numbered as in ``bodies``, those at the start of the recording."""
    out = world.contacts()
    if world.bodies != bodies:
        row = np.array([bodies.index(body) for body in world.bodies], dtype=np.int32)
        out["body_a"], out["body_b"] = row[out["body_a"]], row[out["body_b"]]
    return out


class ContactStore:
    """The arrays of the contacts in a Zarr group, ``length`` rows of them; rows wait until they are flushed."""

    def __init__(self, group: Any, length: int = 0):
        self.arrays = {field: group[f"contact_{field}"] for field in CONTACT.names}
        self.waiting: list[np.ndarray] = []
        self.length = length

    @staticmethod
    def create(group: Any, chunk: int) -> None:
        for field, (unit, text) in FIELDS.items():
            kind, shape = CONTACT[field].base, CONTACT[field].shape
            group.create_array(
                f"contact_{field}", shape=(0, *shape), chunks=(chunk, *shape), dtype=kind, dimension_names=dims(field),
                fill_value=np.nan if kind.kind == "f" else 0, attributes={"units": unit, "long_name": text},
            )  # fmt: skip

    def flush(self) -> None:
        """Append the rows that wait."""
        new = np.concatenate(self.waiting) if self.waiting else np.zeros(0, CONTACT)
        if len(new):
            for field, array in self.arrays.items():
                if array.shape[0] < self.length + len(new):
                    array.resize((self.length + len(new), *array.shape[1:]))
                array[self.length : self.length + len(new)] = new[field]
        self.length += len(new)
        self.waiting.clear()

    def close(self) -> None:
        """Cut off what was there from before, beyond the last row."""
        for array in self.arrays.values():
            if array.shape[0] > self.length:
                array.resize((self.length, *array.shape[1:]))
