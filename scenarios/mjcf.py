"""MJCF: free and static bodies, geoms, meshes, inertials, materials, gravity. Source: MuJoCo's XML reference.

Bodies that are jointed by hinges, slides or balls are left out with what hangs on them, and listed. MuJoCo's collisions are
between convex hulls of meshes, so hulls they are here too. Geoms that only show have mass all the same. Its
contacts are soft: solref, solimp and the like have no counterpart.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError
from collision.mass import mass_properties
from collision.mesh import load_mesh
from collision.pose import Pose
from collision.shapes import Box, Capsule, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere
from scenarios.importing import Imported, Piece, combined, compose, given_inertia, ground, inertials, numbers, unique
from sim.scene import Scene

IGNORED = {  # of the top level: what none of the bodies' motion hangs on
    "compiler", "option", "size", "visual", "statistic", "default", "asset", "worldbody", "custom", "extension",
}  # fmt: skip
GEOM = {
    "name", "class", "type", "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "size", "fromto", "mass", "density",
    "friction", "rgba", "material", "mesh", "group", "contype", "conaffinity", "condim",
}  # fmt: skip


def read(path: Path, root: xml.Element) -> Imported:
    """The scene of a <mujoco> element."""
    return _Reader(path, root).read()


class _Reader:
    def __init__(self, path: Path, root: xml.Element):
        self.path, self.root = path, root
        compiler = {key: value for element in root.iter("compiler") for key, value in element.attrib.items()}
        self.turn = 1.0 if compiler.get("angle", "degree") == "radian" else math.pi / 180
        self.euler = compiler.get("eulerseq", "xyz")
        self.meshes = path.parent / compiler.get("meshdir", compiler.get("assetdir", ""))
        self.defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for default in root.findall("default"):
            self.default(default, "main", {})
        self.assets = {self.mesh_name(m): m for m in root.iter("mesh") if m.get("file") or m.get("vertex")}
        self.colors = {m.get("name"): m.get("rgba") for m in root.findall("asset/material") if m.get("rgba")}
        self.out = Imported(Scene(name=root.get("model", path.stem), allow_overlap=True, friction_rule="max"))

    def default(self, element: xml.Element, name: str, above: dict[str, dict[str, str]]) -> None:
        """A class of defaults holds those of the class around it."""
        own = {tag: dict(values) for tag, values in above.items()}
        for child in element:
            if child.tag != "default":
                own[child.tag] = {**own.get(child.tag, {}), **child.attrib}
        self.defaults[name] = own
        for child in element.findall("default"):
            self.default(child, child.get("class", ""), own)

    def mesh_name(self, mesh: xml.Element) -> str:
        return mesh.get("name") or Path(mesh.get("file", "")).stem

    def read(self) -> Imported:
        scene = self.out.scene
        for element in self.root:
            if element.tag not in IGNORED:
                for child in element:
                    self.out.leave(f"{element.tag}: {child.tag} {child.get('name', '')}".strip())
        for option in self.root.findall("option"):
            scene.gravity = numbers(option, "gravity", scene.gravity, 3)
            if option.get("timestep"):
                scene.dt = numbers(option, "timestep", None, 1)[0]
            for key in sorted(set(option.attrib) - {"gravity", "timestep"}):
                self.out.leave(f"option {key}={option.get(key)}")
        world = self.root.find("worldbody")
        if world is None:
            raise InputError("worldbody", None, "is missing")
        self.geoms_of_world(world)
        for body in world.findall("body"):
            self.body(body, Pose(), "main")
        if not scene.bodies:
            raise InputError("worldbody", None, f"holds no body that is free or fixed ({'; '.join(self.out.left_out[:3])})")
        return self.out

    def geoms_of_world(self, world: xml.Element) -> None:
        for geom in world.findall("geom"):
            values = self.geom(geom, "main")
            if values is not None:
                self.add_static(geom.get("name") or "ground", values, Pose())
        self.others(world, "worldbody")

    def others(self, element: xml.Element, where: str) -> None:
        """What is in a body and is none of its mechanics."""
        for child in element:
            if child.tag not in ("geom", "body", "joint", "freejoint", "inertial"):
                self.out.leave(f"{where}: {child.tag} {child.get('name', '')}".strip())

    def add_static(self, name: str, values: tuple[Shape, Pose, dict[str, Any]], at: Pose) -> None:
        shape, pose, more = values
        if "shows" in more:
            return
        pose = compose(at, pose)
        more = {key: value for key, value in more.items() if key not in ("mass", "density")}
        name = unique(name, [b.name for b in self.out.scene])
        if isinstance(shape, HalfSpace):
            self.out.scene.add(ground(pose), kind="static", name=name, **more)
        else:
            self.out.scene.add(shape, kind="static", name=name, position=pose.position, orientation=pose.orientation, **more)

    def body(self, body: xml.Element, above: Pose, inherited: str) -> None:
        """A child of the world, or of a static body."""
        name = body.get("name") or "body"
        at = compose(above, self.pose(body))
        inner = body.get("childclass", inherited)
        joints = [j.tag if j.tag == "freejoint" else self.with_defaults(j, inner).get("type", "hinge")
                  for j in (*body.findall("freejoint"), *body.findall("joint"))]  # fmt: skip
        if not joints:
            for geom in body.findall("geom"):
                values = self.geom(geom, inner)
                if values is not None:
                    self.add_static(geom.get("name") or name, values, at)
            self.others(body, name)
            for child in body.findall("body"):
                self.body(child, at, inner)
        elif joints in (["freejoint"], ["free"]):
            self.free(body, name, at, inner)
        else:
            self.out.leave(f"body {name}: its joint ({joints[0]}), and what hangs on it")

    def free(self, body: xml.Element, name: str, at: Pose, inherited: str) -> None:
        """A free body with what is welded to it."""
        pieces: list[Piece] = []  # that touch
        weighed: list[Piece] = []
        surface: dict[str, Any] = {}
        own: dict[str, Any] = {}

        def gather(element: xml.Element, pose: Pose, inner: str) -> None:
            for geom in element.findall("geom"):
                values = self.geom(geom, inner)
                if values is None:
                    continue
                shape, place, more = values
                if isinstance(shape, HalfSpace):
                    self.out.leave(f"body {name}: its plane, which only a static body can have")
                    continue
                mass = more.pop("mass", None)
                mass = more.pop("density") * mass_properties(shape).volume if mass is None else mass
                weighed.append(Piece(shape, compose(pose, place), mass))
                if "shows" in more:
                    continue
                pieces.append(weighed[-1])
                surface.update({key: value for key, value in more.items() if key not in (*surface, "density")})
            self.others(element, name)
            for child in element.findall("body"):
                if child.find("joint") is not None or child.find("freejoint") is not None:
                    self.out.leave(f"body {child.get('name', '')}: its joint to {name}, and what hangs on it")
                else:
                    gather(child, compose(pose, self.pose(child)), child.get("childclass", inner))

        gather(body, Pose(), inherited)
        inertial = body.find("inertial")
        if inertial is not None:
            own = self.inertial(inertial)
        if not pieces:
            self.out.leave(f"body {name}: it has no geom that touches")
            return
        if not own:
            weighed = [piece for piece in weighed if piece.mass > 0]
            if not weighed:
                raise InputError(f"body {name}", None, "has no mass")
            own = inertials(weighed)
        name = unique(name, [b.name for b in self.out.scene])
        place = {"position": at.position, "orientation": at.orientation}
        self.out.scene.add(combined(pieces), name=name, **place, **own, **surface)

    def inertial(self, element: xml.Element) -> dict[str, Any]:
        mass, at = numbers(element, "mass", None, 1)[0], self.pose(element)
        full = numbers(element, "fullinertia", None, 6)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            inertia = np.diag(numbers(element, "diaginertia", (0.4 * mass * 1e-2,) * 3, 3))
        return given_inertia(mass, at, inertia)

    def with_defaults(self, element: xml.Element, inherited: str) -> dict[str, str]:
        name = element.get("class", inherited)
        if name not in self.defaults:
            raise InputError(f"{element.tag}.class", name, "there is no such default")
        return {**self.defaults[name].get(element.tag, {}), **element.attrib}

    def geom(self, element: xml.Element, inherited: str) -> tuple[Shape, Pose, dict[str, Any]] | None:
        """(shape, pose, fields of the body); ``shows`` among them where it touches nothing; None for what has no shape."""
        geom = xml.Element("geom", self.with_defaults(element, inherited))
        name = geom.get("name", geom.get("mesh", geom.get("type", "sphere")))
        shows = geom.get("contype", "1") == "0" and geom.get("conaffinity", "1") == "0"
        if shows:
            self.out.leave(f"geom {name}: it only shows")
        for key in sorted(set(geom.attrib) - GEOM):
            self.out.leave(f"geom {key}={geom.get(key)}")
        pose, kind = self.pose(geom), geom.get("type", "mesh" if geom.get("mesh") else "sphere")
        size = numbers(geom, "size", (), None) or ()
        ends = numbers(geom, "fromto", None, 6)
        if ends is not None:
            a, b = np.array(ends[:3]), np.array(ends[3:])
            pose = Pose(tuple((a + b) / 2), self.along(b - a))
            size = (size[0], float(np.linalg.norm(b - a)) / 2)
        shape = self.shape(name, kind, size, geom)
        if shape is None:
            return None
        slide, torsion, roll = self.frictions(geom)
        more: dict[str, Any] = {"friction": slide}
        condim = int(geom.get("condim", 3))
        more |= {"friction": 0.0} if condim == 1 else {}
        more |= {"torsional_friction": torsion} if condim >= 4 else {}
        more |= {"rolling_friction": roll} if condim == 6 else {}
        color = geom.get("rgba") or self.colors.get(geom.get("material"))
        if color:
            more["color"] = tuple(min(1.0, max(0.0, float(c))) for c in color.split()[:3])
        if geom.get("mass") is not None:
            more["mass"] = numbers(geom, "mass", None, 1)[0]
        more["density"] = numbers(geom, "density", (1000.0,), 1)[0]
        return shape, pose, more | ({"shows": True} if shows else {})

    def frictions(self, geom: xml.Element) -> tuple[float, float, float]:
        given = numbers(geom, "friction", (), None) or ()
        return (*given, *(1.0, 0.005, 0.0001)[len(given) :])

    def shape(self, name: str, kind: str, size: tuple[float, ...], geom: xml.Element) -> Shape | None:
        needed = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
        if kind == "plane":
            return HalfSpace()
        if kind in needed and len(size) < needed[kind]:
            raise InputError(f"geom {name}: size", list(size), f"a {kind} has {needed[kind]} numbers")
        if kind == "sphere":
            return Sphere(size[0])
        if kind in ("capsule", "cylinder"):
            return (Capsule if kind == "capsule" else Cylinder)(size[0], size[1])
        if kind == "box":
            return Box(size[:3])
        if kind == "ellipsoid":
            return Ellipsoid(size[:3])
        if kind == "mesh" and geom.get("mesh") in self.assets:
            asset = self.assets[geom.get("mesh")]
            scale = np.array(numbers(asset, "scale", (1, 1, 1), 3))
            points = numbers(asset, "vertex", None)
            if points is None:
                points = load_mesh(self.meshes / asset.get("file"), convex="hull").vertices
            self.out.leave(f"mesh {geom.get('mesh')}: its convex hull is taken, in the mesh's own frame")
            return ConvexHull(np.array(points, dtype=float).reshape(-1, 3) * scale)
        self.out.leave(f"geom {name}: of type {kind}")
        return None

    def pose(self, element: xml.Element) -> Pose:
        """pos with one of quat, euler, axisangle, xyaxes, zaxis."""
        at = numbers(element, "pos", (0, 0, 0), 3)
        if element.get("quat"):
            q = np.array(numbers(element, "quat", None, 4))
            return Pose(at, tuple(q / np.linalg.norm(q)))
        if element.get("axisangle"):
            *axis, angle = numbers(element, "axisangle", None, 4)
            half = angle * self.turn / 2
            axis = np.array(axis) / np.linalg.norm(axis)
            return Pose(at, (math.cos(half), *(math.sin(half) * axis)))
        if element.get("euler"):
            out = Pose()
            for letter, angle in zip(self.euler, numbers(element, "euler", None, 3), strict=True):
                half, axis = angle * self.turn / 2, "xyz".index(letter.lower())
                q = [math.cos(half), 0.0, 0.0, 0.0]
                q[1 + axis] = math.sin(half)
                one = Pose(orientation=tuple(q))
                out = compose(out, one) if letter.islower() else compose(one, out)
            return Pose(at, out.orientation)
        if element.get("xyaxes"):
            given = np.array(numbers(element, "xyaxes", None, 6))
            x = given[:3] / np.linalg.norm(given[:3])
            y = given[3:] - (given[3:] @ x) * x
            y /= np.linalg.norm(y)
            return Pose(at, Pose.from_matrix(np.column_stack((x, y, np.cross(x, y)))).orientation)
        if element.get("zaxis"):
            return Pose(at, self.along(np.array(numbers(element, "zaxis", None, 3))))
        return Pose(at)

    def along(self, direction: np.ndarray) -> tuple[float, ...]:
        """The shortest turn of the z axis into a direction."""
        d = direction / np.linalg.norm(direction)
        if d[2] < -1 + 1e-12:
            return (0.0, 1.0, 0.0, 0.0)
        q = np.array([1 + d[2], -d[1], d[0], 0.0])
        return tuple(map(float, q / np.linalg.norm(q)))
