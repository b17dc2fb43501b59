"""How a body looks, where it does not look like the shape that collides: a finish, and a mesh that is drawn in its place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tumble.sim.checks import Record, check_orientation, checked, number, plain_value, vector
from tumble.sim.errors import InputError

Finish: TypeAlias = Literal["plain", "matte", "metal", "rubber", "glass", "relief"]
FINISHES = ("plain", "matte", "metal", "rubber", "glass")
RELIEF = "relief"  # the finish of ground that is coloured by height
ENDINGS = (".glb", ".gltf", ".obj", ".ply", ".stl")


def _mesh_file(_: str, value: object) -> str:
    if not isinstance(value, str | os.PathLike):
        raise InputError("visual", value, "must be the name of a mesh file, or a Visual")
    path = Path(value)
    if path.suffix.lower() not in ENDINGS:
        raise InputError("visual", str(path), f"must end in {', '.join(ENDINGS)}")
    if not path.is_file():
        raise InputError("visual", str(path), "there is no such file")
    return str(path.resolve())


@dataclass(frozen=True, slots=True)
class Visual(Record):
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

    file: str = checked(_mesh_file, told="a mesh drawn in place of the shape: glTF, OBJ, PLY or STL; relative to the scene file")
    scale: float = number(1.0, told="metres in a unit of the file", above=0)
    position: tuple[float, float, float] = vector((0.0, 0.0, 0.0), "m", "where it is drawn in the body frame")
    orientation: tuple[float, float, float, float] = checked(
        check_orientation, (1.0, 0.0, 0.0, 0.0), "vector", n=4,
        told="its attitude in the body frame, a unit quaternion (w, x, y, z)",
    )  # fmt: skip

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
