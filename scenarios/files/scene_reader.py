"""The tables of one scene file as a scene: every key is checked, and errors say where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Compound, Rounded, Shape, convex_parts, shape_from_dict
from tumble.collision.shapes.ground import GROUND_CLASSES, Ground
from tumble.collision.shapes.shapeset import check_convex
from tumble.collision.solids.torus import torus
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.fields import Field, within
from tumble.scenarios.files import schema
from tumble.scenarios.files.limits import Reading, is_file
from tumble.scenarios.files.repeat import NEEDED, REPEAT, bodies_of, places
from tumble.scenarios.progress import counted
from tumble.sim.forces.force_definitions import force_from_dict
from tumble.sim.forces.path import Path as BodyPath
from tumble.sim.joints.joint_definitions import joint_from_dict
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.joints.mechanism.instrument_kinds import instrument_from_dict
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.scene import CameraDef, Names, Scene
from tumble.sim.scene.visual import Visual
from tumble.sim.words import count


class SceneReader:
    """Reads the tables of the file at ``path``, once."""

    def __init__(self, path: Path, reading: Reading):
        self.path, self.reading = path, reading
        self.names = Names()
        self.repeated = 0  # bodies that repetitions make
        self.checked: Shape | None = None  # the last shape that was found to be convex

    def scene(self, data: dict[str, Any]) -> Scene:
        """The scene that the file describes. InputError names the key, its value and what would be right."""
        values = _read(data, schema.SCENE, "a scene", "camera", "material", "parameters", *schema.LISTS)
        scene = Scene(**{"name": self.path.stem, **values})
        if "camera" in data:
            camera = _table("camera", data["camera"])
            with within("camera."):
                values = _read(camera, schema.CAMERA, "a camera")
            scene.camera = CameraDef(**values)
        scene.parameters = dict(_table("parameters", data.get("parameters", {})))
        for name, table in _table("material", data.get("material", {})).items():
            _table(f"material.{name}", table)
            with within(f"material.{name}."):
                scene.set_material(name, **_read(table, schema.MATERIAL, "a material"))
        bodies = _tables("body", data)
        self.reading.room("body", None, len(bodies))
        if not bodies and not _tables("repeat", data):
            raise InputError("body", None, "a scene needs at least one [[body]]")
        _each(data, "body", lambda table: self.body(scene, table), named=True)
        _each(data, "repeat", lambda table: self.repeat(scene, table))
        _each(data, "pair", lambda table: self.pair(scene, table))
        forces = data.get("force", [])
        if not isinstance(forces, list):
            raise InputError("force", forces, "must be tables, each under the heading [[force]]")
        for number, force in enumerate(forces, start=1):
            _table(f"force {number}", force)
            with within(f"force {number}: "):
                scene.add_force(force_from_dict(_of_kind(force, schema.FORCES, " force")))
        _each(data, "joint", lambda table: self.joint(scene, table), named=True)
        _each(data, "actuator", lambda table: self.actuator(scene, table))
        _each(data, "instrument", lambda table: self.instrument(scene, table), named=True)
        apart = data.get("apart", [])
        if not isinstance(apart, list) or any(not isinstance(pair, list) or len(pair) != 2 for pair in apart):
            raise InputError("apart", apart, "must be a list of pairs of bodies that pass through each other")
        for pair in apart:
            scene.exclude(*pair)
        if not scene.allow_overlap:
            _check_apart(scene)
        return scene

    def pair(self, scene: Scene, data: dict[str, Any]) -> None:
        values = _read(data, schema.PAIR, "a pair")
        names = [*scene.materials, *(body.name for body in scene)]
        for end in ("a", "b"):
            if end not in values:
                raise InputError(end, None, "is missing: the name of a material or of a body")
            if values[end] not in names:
                raise InputError(end, values[end], f"there is no such material or body{did_you_mean(values[end], names)}")
        scene.set_pair(**values)

    def joint(self, scene: Scene, data: dict[str, Any]) -> None:
        scene.add_joint(joint_from_dict(_of_kind(data, schema.JOINTS)))

    def instrument(self, scene: Scene, data: dict[str, Any]) -> None:
        scene.add_instrument(instrument_from_dict(_of_kind(data, schema.INSTRUMENTS)))

    def actuator(self, scene: Scene, data: dict[str, Any]) -> None:
        values = _read(data, schema.ACTUATOR, "an actuator")
        scene.add_actuator(Actuator(**{"name": "", "joint": "", **values}))

    def repeat(self, scene: Scene, data: dict[str, Any]) -> None:
        kind = _kind("kind", data.get("kind"), REPEAT)
        _check_known(data, ["kind", "body", *REPEAT[kind]], f"a {kind}")
        for key in (*NEEDED[kind], "body"):
            if key not in data:
                raise InputError(key, None, f"is missing: a {kind} needs it")
        values = _fields(data, REPEAT[kind])
        body = _table("body", data["body"])
        at = schema.BODY["position"].read("body.position", body.get("position", [0, 0, 0]))
        shape = self.shape("body.shape", body.get("shape", {}))  # here first: a wall goes by its size
        self.repeated += bodies_of(kind, values["count"])
        self.reading.room("count", values["count"], self.repeated)
        found = places(kind, values, shape)
        for n, (place, turn) in enumerate(counted(found, f"Building {scene.name}"), start=1):
            one = {**body, "position": [float(p + o) for p, o in zip(place, at, strict=True)]}
            if turn is not None:
                if "euler_xyz" in body or "orientation" in body:
                    raise InputError("turned", True, "the body has an orientation of its own: say turned = false")
                one["orientation"] = list(turn)
            if body.get("name"):
                one["name"] = f"{body['name']}_{n}"
            with within(f"body {n}: "):
                self.body(scene, one, shape)

    def body(self, scene: Scene, data: dict[str, Any], made: Shape | None = None) -> None:
        _check_known(data, [*schema.BODY, "shape", "path", "visual"], "a body")
        if "shape" not in data:
            raise InputError("shape", None, 'is missing; such as { type = "box", half_extents = [1, 1, 1] }')
        values = _fields(data, schema.BODY)
        material = values.get("material")
        if material is not None:
            if material not in scene.materials:
                hint = f"there is no [material.{material}]{did_you_mean(material, list(scene.materials))}"
                raise InputError("material", material, hint)
            values = {**scene.materials[material], **values}
        _turn(values)
        if "path" in data:
            path = _table("path", data["path"])
            with within("path."):
                values["path"] = BodyPath.from_dict(_read(path, schema.PATH, "a path"))
        if "visual" in data:
            values["visual"] = self.visual(data["visual"])
        shape = made or self.shape("shape", data["shape"])
        if shape is not self.checked:
            for part, _ in convex_parts(shape):
                if not isinstance(part, Ground):
                    check_convex(part)
            self.checked = shape
        values.setdefault("name", self.names.free(type(shape).__name__.lower()))  # here: naming it later would check it twice
        scene.append(BodyDef(shape, **values), self.names)

    def shape(self, key: str, data: Any) -> Shape:
        data = _table(key, data)
        with within(f"{key}."):
            kind = _kind("type", data.get("type"), schema.SHAPES)
            fields = schema.SHAPES[kind]
            inner = {"compound": ["parts"], "rounded": ["shape"]}.get(kind, [])
            _check_known(data, ["type", *fields, *inner], f"a {kind}")
            for name in schema.NEEDED[kind]:
                if name not in data:
                    raise InputError(name, None, f"is missing: a {kind} needs it")
            values = _fields(data, fields)
            if kind == "compound":
                return Compound(self.parts(data.get("parts")), **values)
            if kind == "rounded":
                if "shape" not in data:
                    raise InputError("shape", None, "is missing: a rounded shape needs the shape within")
                return Rounded(self.shape("shape", data["shape"]), **values)
            if kind == "torus":
                return torus(**values)
            if kind in GROUND_CLASSES:
                return self.ground(kind, values)
            return self.mesh(values) if kind == "mesh" else shape_from_dict({"type": kind, **values})

    def parts(self, tables: Any) -> list[tuple[Shape, Pose]]:
        """Those of a compound."""
        if not isinstance(tables, list) or not tables:
            raise InputError("parts", tables, "must be a list of tables with shape, position and orientation")
        out = []
        for i, part in enumerate(tables):
            _table(f"parts[{i}]", part)
            with within(f"parts[{i}]."):
                _check_known(part, [*schema.PART, "shape"], "a part")
                if "shape" not in part:
                    raise InputError("shape", None, "is missing")
                values = _fields(part, schema.PART)
                _turn(values)
                pose = Pose(**values)
                out.append((self.shape("shape", part["shape"]), pose))
        return out

    def ground(self, kind: str, values: dict[str, Any]) -> Shape:
        """A surface of triangles, by its numbers or from a file."""
        own = "heights" if kind == "height_field" else "vertices"
        if "file" not in values:
            for name in ("scale", "low", "high"):
                if name in values:
                    raise InputError(name, values[name], "is for a file, and there is none")
            if own not in values:
                raise InputError(own, None, f"is missing: a {kind} needs either {own} or a file")
            return shape_from_dict({"type": kind, **values})
        for name in ("heights", "vertices", "triangles"):
            if name in values:
                raise InputError(name, "...", "a file is given too: only one of them can hold")
        file = self.file(values.pop("file"))
        with _of_file():
            return GROUND_CLASSES[kind].load(file, **values)

    def mesh(self, values: dict[str, Any]) -> Shape:
        from tumble.collision.solids.mesh_files import load_mesh, load_meshes

        file, part = self.file(values.pop("file")), values.pop("part", None)
        with _of_file():
            if part is None:
                return load_mesh(file, **values)
            bodies = load_meshes(file, **values)
            if part > len(bodies):
                raise InputError("part", part, f"the file has {count(len(bodies), 'closed body')}")
            return bodies[part - 1]

    def visual(self, data: Any) -> Visual:
        data = _table("visual", {"file": data} if isinstance(data, str) else data)
        with within("visual."):
            _check_known(data, schema.VISUAL, "a visual")
            if "file" not in data:
                raise InputError("file", None, "is missing: the mesh that is drawn")
            values = _fields(data, schema.VISUAL)
            return Visual(str(self.file(values.pop("file"))), **values)

    def file(self, name: str) -> Path:
        """A file that the scene names, if it is there and may be read."""
        file = self.path.parent / name
        if not is_file(file):
            raise InputError("file", str(file), "there is no such file (paths are relative to the scene file)")
        return self.reading.inside("file", file, self.path.parent)


def _tables(key: str, data: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables under a heading, none where it is not there."""
    out = data.get(key, [])
    if not isinstance(out, list) or not all(isinstance(table, dict) for table in out):
        raise InputError(key, out, f"must be tables, each under the heading [[{key}]]")
    return out


def _each(data: dict[str, Any], key: str, read: Callable[[dict[str, Any]], Any], named: bool = False) -> None:
    """Read the tables under a heading. Errors begin with the number of theirs, or with its name where they are ``named``."""
    for number, table in enumerate(_tables(key, data), start=1):
        name = table.get("name") if named else None
        with within(f'{key} "{name}": ' if isinstance(name, str) and name else f"{key} {number}: "):
            read(table)


def _table(key: str, data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InputError(key, data, "must be a table")
    return data


def _read(data: dict[str, Any], fields: dict[str, Field], what: str, *others: str) -> dict[str, Any]:
    """The fields of a table, which has no keys besides but ``others``."""
    _check_known(data, [*fields, *others], what)
    return _fields(data, fields)


def _fields(data: dict[str, Any], fields: dict[str, Field]) -> dict[str, Any]:
    return {key: field.read(key, data[key]) for key, field in fields.items() if key in data}


def _check_known(data: dict[str, Any], keys: Iterable[str], what: str) -> None:
    keys = list(keys)
    for key in data:
        if key not in keys:
            near = did_you_mean(key, keys)
            raise InputError(key, data[key], f"unknown key{near}" if near else f"unknown key; {what} has {', '.join(keys)}")


def _kind(key: str, kind: Any, kinds: dict[str, Any]) -> str:
    """The name of a kind of something, one of those that there are."""
    if isinstance(kind, str) and kind in kinds:
        return kind
    near = did_you_mean(kind, list(kinds)) if isinstance(kind, str) else ""
    raise InputError(key, kind, f"must be one of {', '.join(kinds)}{near}")


def _of_kind(data: dict[str, Any], kinds: dict[str, dict[str, Field]], thing: str = "") -> dict[str, Any]:
    """The type that a table is of, and the fields that this type has."""
    kind = _kind("type", data.get("type"), kinds)
    _check_known(data, ["type", *kinds[kind]], f"a {kind}{thing}")
    return {"type": kind, **_fields(data, kinds[kind])}


def _turn(values: dict[str, Any]) -> None:
    """euler_xyz into orientation."""
    angles = values.pop("euler_xyz", None)
    if angles is None:
        return
    if "orientation" in values:
        raise InputError("euler_xyz", angles, "orientation is given too: only one of them can hold")
    values["orientation"] = Pose.from_euler_xyz(angles).orientation


@contextmanager
def _of_file() -> Iterator[None]:
    """What is wrong with a mesh is wrong with the file that the scene names."""
    try:
        yield
    except InputError as error:
        raise InputError("file" if error.name == "mesh" else error.name, error.value, error.hint) from None


def _check_apart(scene: Scene) -> None:
    """No two bodies may start inside each other."""
    from tumble.sim.scene.initial_overlap import MOST_OVERLAPS, overlaps

    found = overlaps(scene)
    if not found:
        return
    deepest = max(found, key=lambda overlap: overlap.depth)
    a, b = scene.bodies[deepest.a], scene.bodies[deepest.b]
    least = "at least " if len(found) == MOST_OVERLAPS else ""
    more = f" (and {least}{len(found) - 1} more pairs)" if len(found) > 1 else ""
    raise InputError(
        f'body "{b.name}": position',
        b.position,
        f'starts {deepest.depth:.3g} m inside "{a.name}"{more}; move it, or say allow_overlap = true',
    )
