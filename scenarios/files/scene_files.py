"""Scene files in TOML: read with every key checked, and written so that nothing is lost.

    duration = 3
    [material.wood]
    density = 700
    friction = 0.4
    [[body]]
    name = "floor"
    kind = "static"
    shape = { type = "halfspace" }
    [[body]]
    name = "bracket"
    material = "wood"
    shape = { type = "mesh", file = "bracket.stl", scale = 0.001 }
    position = [0, 0, "50 cm"]
    [[pair]]
    a = "wood"
    b = "floor"
    friction = 0.2

``include = ["materials.toml"]`` takes in other files, [[repeat]] makes walls, grids and piles (``scenarios/files/repeat.py``).
Numbers are SI; a text such as "50 cm" carries its own unit. ``scenarios/files/schema.py`` lists the keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Compound, Rounded, Shape, convex_parts, shape_from_dict
from tumble.collision.shapes.ground import GROUND_CLASSES, Ground
from tumble.collision.shapes.shapeset import check_convex
from tumble.collision.solids.torus import torus
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.expressions import known
from tumble.scenarios.fields import Field, Text
from tumble.scenarios.files.declared_parameters import as_read, as_written, declared, filled
from tumble.scenarios.files.limits import MOST_FILES, STRICT, Reading, is_file, read_toml
from tumble.scenarios.files.repeat import NEEDED, REPEAT, bodies_of, places
from tumble.scenarios.files.schema import (
    ACTUATOR,
    BODY,
    CAMERA,
    FORCES,
    INSTRUMENTS,
    JOINTS,
    LISTS,
    MATERIAL,
    OPTIONAL,
    PAIR,
    PART,
    PATH,
    SCENE,
    SHAPES,
    VISUAL,
)
from tumble.scenarios.progress import counted
from tumble.scenarios.registry import Scenario
from tumble.sim.forces.force_definitions import force_from_dict
from tumble.sim.forces.path import Path as BodyPath
from tumble.sim.joints.joint_definitions import joint_from_dict
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.joints.mechanism.instrument_kinds import instrument_from_dict
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.scene import CameraDef, Names, Scene
from tumble.sim.scene.visual import Visual
from tumble.sim.words import count, printable


class SceneFileError(InputError):
    """A scene file that can not be used. ``file`` says which; ``name`` is the key, ``value`` and ``hint`` as in InputError."""

    def __init__(self, file: Path, name: str, value: object, hint: str):
        super().__init__(name, value, hint)
        self.file = file
        self.args = (file, name, value, hint)

    def __str__(self) -> str:
        said = super().__str__()
        if not self.name:
            said = self.hint
        elif self.value is None:
            said = f"{self.name}: {self.hint}"
        return printable(" ".join(f"{self.file}: {said}".split()))  # names in the file reach terminals by tracebacks too


def load_scene(path: str | Path, **parameters: Any) -> Scene:
    """The scene in a TOML file. Raises SceneFileError: one line with the file, the key and its value.

    ``parameters`` replace defaults of its [parameter.NAME]; InputError where there is no such one, or it is out of range.
    """
    return load_scenario(path)(**parameters)


def load_scenario(path: str | Path, reading: Reading = STRICT) -> Scenario:
    """A scene file as a scenario, with the parameters that it declares: a builder of scenes, as those of the catalog.

    ``reading``: whether files outside its folder may be read, and scenes have any number of bodies.
    """
    path = Path(path)
    files = _Files(path, reading)
    data = files.read(path)
    with _InFile(path):
        data = files.with_includes(path, data, (path.resolve(),))
        parameters = declared(data.pop("parameter", {}))
        about = Text(empty=True).read("about", data.pop("about", ""))
        name = SCENE["name"].read("name", as_read(data.get("name", path.stem)))

    def build(**values: Any) -> Scene:
        with _InFile(path), known(values):
            return _Reader(path, reading).scene(filled(data, values))

    build.__name__, build.__doc__ = name, about
    return Scenario(build, parameters)


class _Files:
    """The files of one scene: they are counted, and lie in its folder."""

    def __init__(self, path: Path, reading: Reading):
        self.folder, self.reading, self.count = path.parent, reading, 0

    def read(self, path: Path) -> dict[str, Any]:
        self.count += 1
        if self.count > MOST_FILES:
            raise InputError("include", str(path), f"is file {self.count} of the scene: at most {MOST_FILES} are read")
        try:
            return read_toml(path)
        except InputError as error:
            raise SceneFileError(path, "", None, error.hint) from None

    def with_includes(self, path: Path, data: dict[str, Any], above: tuple[Path, ...]) -> dict[str, Any]:
        """The data with what the files named by ``include`` say put in front of it: its own keys come first, its bodies last."""
        names = data.pop("include", [])
        if not isinstance(names, list) or not all(isinstance(name, str) and "\0" not in name for name in names):
            raise InputError("include", names, 'must be a list of files, such as ["materials.toml"]')
        out: dict[str, Any] = {}
        for name in names:
            file = self.reading.inside("include", path.parent / name, self.folder)
            if file.resolve() in above:
                raise InputError("include", name, "includes itself")
            inner = _absolute(file, self.read(file))
            out = _over(out, self.with_includes(file, inner, (*above, file.resolve())))
        return _over(out, data)


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two scenes as one: lists of tables one after the other, tables merged, of other keys those of ``above``."""
    out = dict(below)
    for key, value in above.items():
        if key in out and isinstance(value, list) and isinstance(out[key], list) and key in LISTS:
            out[key] = [*out[key], *value]
        elif key in out and isinstance(value, dict) and isinstance(out[key], dict):
            out[key] = {**out[key], **value}
        else:
            out[key] = value
    return out


def _absolute(file: Path, data: Any) -> Any:
    """Files of meshes are relative to the file that names them."""
    if isinstance(data, list):
        return [_absolute(file, item) for item in data]
    if isinstance(data, dict):
        data = {key: _absolute(file, value) for key, value in data.items()}
        if data.get("type") == "mesh" and isinstance(data.get("file"), str):
            data["file"] = str((file.parent / data["file"]).resolve())
        visual = data.get("visual")
        if isinstance(visual, str):
            data["visual"] = str((file.parent / visual).resolve())
        elif isinstance(visual, dict) and isinstance(visual.get("file"), str):
            visual["file"] = str((file.parent / visual["file"]).resolve())
    return data


def scene_to_toml(scene: Scene) -> str:
    """The scene as the text of a scene file; reading it gives an equal scene."""
    import tomli_w

    data = scene.to_dict()
    for one, many in (
        ("material", "materials"), ("pair", "pairs"), ("body", "bodies"), ("force", "forces"), ("joint", "joints"),
        ("actuator", "actuators"), ("instrument", "instruments"),
    ):  # fmt: skip
        data[one] = data.pop(many, [])
        if not data[one]:
            del data[one]
    text = tomli_w.dumps(as_written(data))
    return re.sub(r"\[\n\s+([^\[\]\n]*(?:\n[^\[\]\n]*){0,3}),\n\s*\]", _one_line, text)


def _one_line(array: re.Match[str]) -> str:
    """A vector on one line; the writer puts each number on a line of its own."""
    return "[" + " ".join(array[1].split()) + "]"


def save_scene(scene: Scene, path: str | Path) -> None:
    """Write a scene file."""
    Path(path).write_text(scene_to_toml(scene), encoding="utf-8")


class _Reader:
    """Reads one file; keeps what errors need to say where they are."""

    def __init__(self, path: Path, reading: Reading):
        self.path, self.reading = path, reading
        self.names = Names()
        self.repeated = 0  # bodies that repetitions make
        self.checked: Shape | None = None  # the last shape that was found to be convex

    def scene(self, data: dict[str, Any]) -> Scene:
        tables = ("camera", "material", "parameters", *LISTS)
        self.known("", data, [*SCENE, *tables], "a scene")
        values = self.fields("", data, SCENE)
        scene = Scene(**{"name": self.path.stem, **values})
        if "camera" in data:
            camera = self.table("camera", data["camera"])
            self.known("camera.", camera, CAMERA, "a camera")
            scene.camera = CameraDef(**self.fields("camera.", camera, CAMERA))
        scene.parameters = dict(self.table("parameters", data.get("parameters", {})))
        for name, table in self.table("material", data.get("material", {})).items():
            prefix = f"material.{name}."
            self.known(prefix, self.table(prefix[:-1], table), MATERIAL, "a material")
            values = self.fields(prefix, table, MATERIAL)
            with _Within(prefix):
                scene.set_material(name, **values)
        bodies, repeats = self.tables("body", data), self.tables("repeat", data)
        self.reading.room("body", None, len(bodies))
        if not bodies and not repeats:
            raise InputError("body", None, "a scene needs at least one [[body]]")
        for number, body in enumerate(bodies, start=1):
            name = body.get("name")
            self.body(scene, f'body "{name}": ' if isinstance(name, str) and name else f"body {number}: ", body)
        for number, repeat in enumerate(repeats, start=1):
            self.repeat(scene, f"repeat {number}: ", repeat)
        for number, pair in enumerate(self.tables("pair", data), start=1):
            self.pair(scene, f"pair {number}: ", pair)
        self.forces(scene, data.get("force", []))
        for number, joint in enumerate(self.tables("joint", data), start=1):
            name = joint.get("name")
            self.joint(scene, f'joint "{name}": ' if isinstance(name, str) and name else f"joint {number}: ", joint)
        for number, actuator in enumerate(self.tables("actuator", data), start=1):
            prefix = f"actuator {number}: "
            self.known(prefix, actuator, ACTUATOR, "an actuator")
            with _Within(prefix):
                scene.add_actuator(Actuator(**{"name": "", "joint": "", **self.fields(prefix, actuator, ACTUATOR)}))
        for number, instrument in enumerate(self.tables("instrument", data), start=1):
            name = instrument.get("name")
            named = f'instrument "{name}": ' if isinstance(name, str) and name else f"instrument {number}: "
            self.instrument(scene, named, instrument)
        apart = data.get("apart", [])
        if not isinstance(apart, list) or any(not isinstance(pair, list) or len(pair) != 2 for pair in apart):
            raise InputError("apart", apart, "must be a list of pairs of bodies that pass through each other")
        for pair in apart:
            scene.exclude(*pair)
        if not scene.allow_overlap:
            self.apart(scene)
        return scene

    def tables(self, key: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        out = data.get(key, [])
        if not isinstance(out, list) or not all(isinstance(table, dict) for table in out):
            raise InputError(key, out, f"must be tables, each under the heading [[{key}]]")
        return out

    def pair(self, scene: Scene, prefix: str, data: dict[str, Any]) -> None:
        self.known(prefix, data, PAIR, "a pair")
        values = self.fields(prefix, data, PAIR)
        names = [*scene.materials, *(body.name for body in scene)]
        for end in ("a", "b"):
            if end not in values:
                raise InputError(f"{prefix}{end}", None, "is missing: the name of a material or of a body")
            if values[end] not in names:
                hint = f"there is no such material or body{did_you_mean(values[end], names)}"
                raise InputError(f"{prefix}{end}", values[end], hint)
        with _Within(prefix):
            scene.set_pair(**values)

    def repeat(self, scene: Scene, prefix: str, data: dict[str, Any]) -> None:
        kind = _kind(f"{prefix}kind", data.get("kind"), REPEAT)
        self.known(prefix, data, ["kind", "body", *REPEAT[kind]], f"a {kind}")
        for key in (*NEEDED[kind], "body"):
            if key not in data:
                raise InputError(f"{prefix}{key}", None, f"is missing: a {kind} needs it")
        values = self.fields(prefix, data, REPEAT[kind])
        body = self.table(f"{prefix}body", data["body"])
        at = BODY["position"].read(f"{prefix}body.position", body.get("position", [0, 0, 0]))
        shape = self.shape(f"{prefix}body.shape", body.get("shape", {}))  # here first: a wall goes by its size
        with _Within(prefix):
            self.repeated += bodies_of(kind, values["count"])
            self.reading.room("count", values["count"], self.repeated)
            found = places(kind, values, shape)
        for n, (place, turn) in enumerate(counted(found, f"Building {scene.name}"), start=1):
            one = {**body, "position": [float(p + o) for p, o in zip(place, at, strict=True)]}
            if turn is not None:
                if "euler_xyz" in body or "orientation" in body:
                    raise InputError(f"{prefix}turned", True, "the body has an orientation of its own: say turned = false")
                one["orientation"] = list(turn)
            if body.get("name"):
                one["name"] = f"{body['name']}_{n}"
            self.body(scene, f"{prefix}body {n}: ", one, shape)

    def body(self, scene: Scene, prefix: str, data: dict[str, Any], made: Shape | None = None) -> None:
        self.known(prefix, data, [*BODY, "shape", "path", "visual"], "a body")
        if "shape" not in data:
            raise InputError(f"{prefix}shape", None, 'is missing; such as { type = "box", half_extents = [1, 1, 1] }')
        values = self.fields(prefix, data, BODY)
        material = values.get("material")
        if material is not None:
            if material not in scene.materials:
                hint = f"there is no [material.{material}]{did_you_mean(material, list(scene.materials))}"
                raise InputError(f"{prefix}material", material, hint)
            values = {**scene.materials[material], **values}
        self.turn(prefix, values)
        if "path" in data:
            path = self.table(f"{prefix}path", data["path"])
            self.known(f"{prefix}path.", path, PATH, "a path")
            with _Within(f"{prefix}path."):
                values["path"] = BodyPath.from_dict(self.fields("", path, PATH))
        if "visual" in data:
            values["visual"] = self.visual(f"{prefix}visual", data["visual"])
        shape = made or self.shape(f"{prefix}shape", data["shape"])
        with _Within(prefix):
            if shape is not self.checked:
                for part, _ in convex_parts(shape):
                    if not isinstance(part, Ground):
                        check_convex(part)
                self.checked = shape
            values.setdefault("name", self.names.free(type(shape).__name__.lower()))  # here: naming it later would check it twice
            scene.append(BodyDef(shape, **values), self.names)

    def forces(self, scene: Scene, tables: Any) -> None:
        if not isinstance(tables, list):
            raise InputError("force", tables, "must be tables, each under the heading [[force]]")
        for number, data in enumerate(tables, start=1):
            prefix = f"force {number}: "
            kind = _kind(f"{prefix}type", self.table(prefix[:-2], data).get("type"), FORCES)
            self.known(prefix, data, ["type", *FORCES[kind]], f"a {kind} force")
            with _Within(prefix):
                scene.add_force(force_from_dict({"type": kind, **self.fields("", data, FORCES[kind])}))

    def joint(self, scene: Scene, prefix: str, data: dict[str, Any]) -> None:
        values = self.of_kind(prefix, data, JOINTS)
        with _Within(prefix):
            scene.add_joint(joint_from_dict(values))

    def instrument(self, scene: Scene, prefix: str, data: dict[str, Any]) -> None:
        values = self.of_kind(prefix, data, INSTRUMENTS)
        with _Within(prefix):
            scene.add_instrument(instrument_from_dict(values))

    def of_kind(self, prefix: str, data: dict[str, Any], kinds: dict[str, Any]) -> dict[str, Any]:
        """The type that a table is of, and the fields that this type has."""
        kind = _kind(f"{prefix}type", data.get("type"), kinds)
        self.known(prefix, data, ["type", *kinds[kind]], f"a {kind}")
        return {"type": kind, **self.fields(prefix, data, kinds[kind])}

    def turn(self, prefix: str, values: dict[str, Any]) -> None:
        """euler_xyz into orientation."""
        angles = values.pop("euler_xyz", None)
        if angles is None:
            return
        if "orientation" in values:
            raise InputError(f"{prefix}euler_xyz", angles, "orientation is given too: only one of them can hold")
        values["orientation"] = Pose.from_euler_xyz(angles).orientation

    def shape(self, key: str, data: Any) -> Shape:
        data = self.table(key, data)
        kind = _kind(f"{key}.type", data.get("type"), SHAPES)
        fields = SHAPES[kind]
        inner = {"compound": ["parts"], "rounded": ["shape"]}.get(kind, [])
        self.known(f"{key}.", data, ["type", *fields, *inner], f"a {kind}")
        if kind == "compound":
            return self.compound(key, data.get("parts"), self.fields(f"{key}.", data, fields))
        for name in fields:
            if name not in data and (kind, name) not in OPTIONAL:
                raise InputError(f"{key}.{name}", None, f"is missing: a {kind} needs it")
        values = self.fields(f"{key}.", data, fields)
        if kind == "rounded" and "shape" not in data:
            raise InputError(f"{key}.shape", None, "is missing: a rounded shape needs the shape within")
        within = self.shape(f"{key}.shape", data["shape"]) if kind == "rounded" else None
        with _Within(f"{key}."):
            if within is not None:
                return Rounded(within, **values)
            if kind == "torus":
                return torus(**values)
            if kind in GROUND_CLASSES:
                return self.ground(kind, values)
            return self.mesh(key, values) if kind == "mesh" else shape_from_dict({"type": kind, **values})

    def compound(self, key: str, parts: Any, own: dict[str, Any]) -> Shape:
        if not isinstance(parts, list) or not parts:
            raise InputError(f"{key}.parts", parts, "must be a list of tables with shape, position and orientation")
        out = []
        for i, part in enumerate(parts):
            prefix = f"{key}.parts[{i}]"
            self.known(f"{prefix}.", self.table(prefix, part), [*PART, "shape"], "a part")
            if "shape" not in part:
                raise InputError(f"{prefix}.shape", None, "is missing")
            values = self.fields(f"{prefix}.", part, PART)
            self.turn(f"{prefix}.", values)
            with _Within(f"{prefix}."):
                pose = Pose(**values)
            out.append((self.shape(f"{prefix}.shape", part["shape"]), pose))
        with _Within(f"{key}."):
            return Compound(out, **own)

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
        file = self.path.parent / values.pop("file")
        if not is_file(file):
            raise InputError("file", str(file), "there is no such file (paths are relative to the scene file)")
        self.reading.inside("file", file, self.path.parent)
        try:
            return GROUND_CLASSES[kind].load(file, **values)
        except InputError as error:
            raise InputError("file" if error.name == "mesh" else error.name, error.value, error.hint) from None

    def mesh(self, key: str, values: dict[str, Any]) -> Shape:
        from tumble.collision.solids.mesh_files import load_mesh, load_meshes

        file = self.path.parent / values.pop("file")
        if not is_file(file):
            raise InputError("file", str(file), "there is no such file (paths are relative to the scene file)")
        self.reading.inside("file", file, self.path.parent)
        part = values.pop("part", None)
        try:
            if part is None:
                return load_mesh(file, **values)
            bodies = load_meshes(file, **values)
            if part > len(bodies):
                raise InputError("part", part, f"the file has {count(len(bodies), 'closed body')}")
            return bodies[part - 1]
        except InputError as error:
            raise InputError("file" if error.name == "mesh" else error.name, error.value, error.hint) from None

    def visual(self, key: str, data: Any) -> Visual:
        data = self.table(key, {"file": data} if isinstance(data, str) else data)
        self.known(f"{key}.", data, VISUAL, "a visual")
        if "file" not in data:
            raise InputError(f"{key}.file", None, "is missing: the mesh that is drawn")
        values = self.fields(f"{key}.", data, VISUAL)
        file = self.path.parent / values.pop("file")
        if not is_file(file):
            raise InputError(f"{key}.file", str(file), "there is no such file (paths are relative to the scene file)")
        with _Within(f"{key}."):
            self.reading.inside("file", file, self.path.parent)
            return Visual(str(file), **values)

    def apart(self, scene: Scene) -> None:
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

    def fields(self, prefix: str, data: dict[str, Any], fields: dict[str, Field]) -> dict[str, Any]:
        return {key: field.read(f"{prefix}{key}", data[key]) for key, field in fields.items() if key in data}

    def known(self, prefix: str, data: dict[str, Any], keys: Iterable[str], what: str) -> None:
        keys = list(keys)
        for key in data:
            if key not in keys:
                near = did_you_mean(key, keys)
                hint = f"unknown key{near}" if near else f"unknown key; {what} has {', '.join(keys)}"
                raise InputError(f"{prefix}{key}", data[key], hint)

    def table(self, key: str, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise InputError(key, data, "must be a table")
        return data


class _InFile:
    """Says in the InputErrors of a block which file they are about."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError) and not isinstance(error, SceneFileError):
            raise SceneFileError(self.path, error.name, error.value, error.hint) from None


def _kind(key: str, kind: Any, kinds: dict[str, Any]) -> str:
    """The name of a kind of something, one of those that there are."""
    if isinstance(kind, str) and kind in kinds:
        return kind
    near = did_you_mean(kind, list(kinds)) if isinstance(kind, str) else ""
    raise InputError(key, kind, f"must be one of {', '.join(kinds)}{near}")


class _Within:
    """Puts a prefix before the names in the InputErrors of a block."""

    def __init__(self, prefix: str):
        self.prefix = prefix

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            raise InputError(self.prefix + error.name, error.value, error.hint) from None
