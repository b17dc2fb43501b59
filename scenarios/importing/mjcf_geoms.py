"""MJCF: geoms as shapes, with the mass, colour and friction that they give to their bodies."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere
from tumble.collision.shapes.ground import Ground
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.fields import within
from tumble.scenarios.importing.mjcf_fields import field_name, read_field
from tumble.scenarios.importing.mjcf_parts import Mesh
from tumble.scenarios.importing.mjcf_values import Values, along, coefficients
from tumble.scenarios.importing.models import Imported, Mass, color, compose, needed, number, numbers, whole

GEOM = {
    "name", "class", "type", "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "size", "fromto", "mass", "density",
    "friction", "rgba", "material", "mesh", "hfield", "group", "contype", "conaffinity", "condim",
}  # fmt: skip
SIZED = {  # how many numbers a shape has, and what it is by them
    "sphere": (1, lambda size: Sphere(*size)),
    "capsule": (2, lambda size: Capsule(*size)),
    "cylinder": (2, lambda size: Cylinder(*size)),
    "box": (3, Box),
    "ellipsoid": (3, Ellipsoid),
}


class Geoms:
    """Geoms of a file; a mesh or height field that several name is read once."""

    def __init__(self, root: xml.Element, path: Path, values: Values, out: Imported):
        self.values, self.out = values, out
        self.folder = path.parent / values.compiler.get("meshdir", values.compiler.get("assetdir", ""))
        assets = [m for asset in root.findall("asset") for m in asset.findall("mesh") if m.get("file") or m.get("vertex")]
        self.assets = {m.get("name") or Path(m.get("file", "")).stem: m for m in assets}
        self.others = {m.get("name") for asset in root.findall("asset") for m in asset.findall("mesh")} - set(self.assets)
        self.read_meshes: dict[str, Mesh] = {}
        fields = [f for asset in root.findall("asset") for f in asset.findall("hfield")]
        self.fields = {field_name(f): f for f in fields}
        self.read_fields: dict[str, Ground] = {}
        self.colors = {m.get("name"): m.get("rgba") for m in root.findall("asset/material") if m.get("rgba")}

    def read(self, element: xml.Element, inherited: str) -> tuple[Shape, Pose, Mass | None, dict[str, Any]] | None:
        """(shape, pose, its mass where that is not the shape's, fields of the body); None for a geom that has no shape here.

        Among the fields are ``group``, ``bits`` (contype and conaffinity), ``density``, and ``shows`` for a geom that touches
        nothing.
        """
        geom = xml.Element("geom", self.values.with_defaults(element, inherited))
        name = geom.get("name", geom.get("mesh", geom.get("type", "sphere")))
        shows = geom.get("contype", "1") == "0" and geom.get("conaffinity", "1") == "0"
        if shows:
            self.out.leave("geom that only shows", name)
        self.out.leave_rest("geom", geom.attrib, GEOM)
        kind = geom.get("type", "mesh" if geom.get("mesh") else "hfield" if geom.get("hfield") else "sphere")
        pose, size = self._place_and_size(geom, kind)
        mesh = None
        if geom.get("mesh") and geom.get("mesh") not in self.others:
            mesh = self._mesh(name, geom.get("mesh"))
        if mesh is not None and kind in ("mesh", "sdf"):
            self.out.leave("mesh, taken as its convex hull", geom.get("mesh"))
            with within(f"mesh {geom.get('mesh')}: "):
                shape = mesh.hull()
        elif mesh is not None:
            fitted, size = mesh.fitted(kind)
            shape, pose, mesh = self._shape(name, kind, size), compose(pose, fitted), None
        else:
            shape = self._field(geom.get("hfield", "")) if kind == "hfield" else self._shape(name, kind, size)
        if shape is None:
            return None
        given = numbers(geom, "friction", (), None) or ()
        more: dict[str, Any] = coefficients(geom, *given[:3], *(1.0, 0.005, 0.0001)[len(given) :])
        rgba = geom.get("rgba") or self.colors.get(geom.get("material"))
        if rgba:
            more["color"] = color("geom.rgba", rgba)
        if geom.get("mass") is not None:
            more["mass"] = number(geom, "mass")
        more["bits"] = whole(geom, "contype", 1), whole(geom, "conaffinity", 1)
        more["group"] = whole(geom, "group", 0)
        more["density"] = number(geom, "density", 1000.0)
        return shape, pose, None if mesh is None else mesh.solid(), more | ({"shows": True} if shows else {})

    def _place_and_size(self, geom: xml.Element, kind: str) -> tuple[Pose, tuple[float, ...]]:
        """Where a geom is, and its numbers: as they stand there, or by the two ends that ``fromto`` gives."""
        size = numbers(geom, "size", (), None) or ()
        ends = numbers(geom, "fromto", None, 6)
        if ends is None:
            return self.values.pose(geom), size
        a, b = np.array(ends[:3]), np.array(ends[3:])
        pose, half = Pose(tuple((a + b) / 2), along("geom.fromto", a - b)), float(np.linalg.norm(b - a)) / 2
        radius = needed(geom, "size")[0]
        return pose, (radius, radius, half) if kind in ("box", "ellipsoid") else (radius, half)

    def _mesh(self, geom: str, name: str) -> Mesh:
        """The mesh that a geom names, read once."""
        if name not in self.assets:
            raise InputError(f"geom {geom}: mesh", name, f"there is none of this name{did_you_mean(name, list(self.assets))}")
        if name not in self.read_meshes:
            asset = xml.Element("mesh", self.values.with_defaults(self.assets[name], "main"))
            with within(f"mesh {name}: "):
                mesh = Mesh.read(asset, self.folder, self.values.strip)
            self.read_meshes[name] = mesh
            if (too_heavy := mesh.overcounted()) > 1.01:
                self.out.leave("mesh that weighs more than what it encloses, as in MuJoCo", f"{name} ({too_heavy:.3g} times)")
        return self.read_meshes[name]

    def _field(self, name: str) -> Ground:
        """The height field that a geom names, read once."""
        if name not in self.read_fields:
            if name not in self.fields:
                raise InputError("geom.hfield", name, f"there is none of this name{did_you_mean(name, list(self.fields))}")
            with within(f"hfield {name}: "):
                self.read_fields[name] = read_field(self.fields[name], self.folder, self.values.strip)
        return self.read_fields[name]

    def _shape(self, name: str, kind: str, size: tuple[float, ...]) -> Shape | None:
        """A shape by its type and its numbers; None, and told of, where tumble has none of this type."""
        if kind == "plane":
            return HalfSpace()
        if kind not in SIZED:
            self.out.leave("geom", f"{name} of type {kind}")
            return None
        count, make = SIZED[kind]
        if len(size) < count:
            raise InputError(f"geom {name}: size", list(size), f"a {kind} has {count} numbers")
        return make(size[:count])
