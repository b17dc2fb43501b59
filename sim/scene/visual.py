"""How a body looks, where it does not look like the shape that collides: a finish, and a mesh that is drawn in its place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tumble.collision.errors import check_number, check_vector
from tumble.sim.checks import check_orientation, plain_value
from tumble.sim.errors import InputError

Finish: TypeAlias = Literal["plain", "matte", "metal", "rubber", "glass", "relief"]
FINISHES = ("plain", "matte", "metal", "rubber", "glass")
RELIEF = "relief"  # the finish of ground that is coloured by height
ENDINGS = (".glb", ".gltf", ".obj", ".ply", ".stl")


@dataclass(frozen=True, slots=True)
class Visual:
    """A mesh that is drawn in place of what collides, with its colours or texture.

    Parameters
    ----------
    file : .glb, .gltf, .obj (with the .mtl and the picture that it names), .ply or .stl.
    scale : units of the file to metres, 0.001 for millimetres.
    position, orientation : (3,) [m] and unit quaternion (w, x, y, z): where it is in the body frame.

    Raises
    ------
    InputError : names the field and its value; also where there is no such file.
    """

    file: str
    scale: float = 1.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731  the record is frozen
        if not isinstance(self.file, str | os.PathLike):
            raise InputError("visual", self.file, "must be the name of a mesh file, or a Visual")
        path = Path(self.file)
        if path.suffix.lower() not in ENDINGS:
            raise InputError("visual", str(path), f"must end in {', '.join(ENDINGS)}")
        if not path.is_file():
            raise InputError("visual", str(path), "there is no such file")
        put("file", str(path.resolve()))
        put("scale", check_number("scale", self.scale, above=0))
        put("position", check_vector("position", self.position))
        put("orientation", check_orientation("orientation", self.orientation))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts."""
        return {name: plain_value(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Visual:
        """The inverse of :meth:`to_dict`. The file need not be there any more: recordings are read without it."""
        out = object.__new__(cls)
        for name in cls.__slots__:
            value = data[name] if name == "file" else data.get(name, cls.__dataclass_fields__[name].default)
            object.__setattr__(out, name, tuple(value) if isinstance(value, list) else value)
        return out


def check_finish(name: str, value: object) -> str:
    """One of FINISHES, or RELIEF; InputError otherwise."""
    if value not in (*FINISHES, RELIEF):
        raise InputError(name, value, f"must be one of {', '.join(FINISHES)}, or {RELIEF} for ground")
    return value
