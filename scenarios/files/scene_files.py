"""Scene files in TOML: read with every key checked, and written so that nothing is lost.

    [material.wood]
    density = 700
    [[body]]
    name = "bracket"
    material = "wood"
    shape = { type = "mesh", file = "bracket.stl", scale = 0.001 }
    position = [0, 0, "50 cm"]

``include = ["materials.toml"]`` takes in other files, [[repeat]] makes walls, grids and piles (``scenarios/files/repeat.py``).
Numbers are SI; a text such as "50 cm" carries its own unit. ``scenarios/files/schema.py`` lists the keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tumble.collision.errors import InputError
from tumble.scenarios.expressions import known
from tumble.scenarios.fields import Text
from tumble.scenarios.files.declared_parameters import as_read, as_written, declared, filled
from tumble.scenarios.files.limits import MOST_FILES, STRICT, Reading, read_toml
from tumble.scenarios.files.scene_reader import SceneReader
from tumble.scenarios.files.schema import LISTS, SCENE
from tumble.scenarios.registry import Scenario
from tumble.sim.scene.scene import Scene
from tumble.sim.words import printable


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
    with _in_file(path):
        data = files.with_includes(path, data, (path.resolve(),))
        parameters = declared(data.pop("parameter", {}))
        about = Text(empty=True).read("about", data.pop("about", ""))
        name = SCENE["name"].read("name", as_read(data.get("name", path.stem)))

    def build(**values: Any) -> Scene:
        with _in_file(path), known(values):
            return SceneReader(path, reading).scene(filled(data, values))

    build.__name__, build.__doc__ = name, about
    return Scenario(build, parameters)


@contextmanager
def _in_file(path: Path) -> Iterator[None]:
    """Says in the InputErrors of a block which file they are about."""
    try:
        yield
    except SceneFileError:
        raise
    except InputError as error:
        raise SceneFileError(path, error.name, error.value, error.hint) from None


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
    for many in ("materials", "pairs", "bodies", "forces", "joints", "actuators", "instruments"):
        if tables := data.pop(many, None):
            data["body" if many == "bodies" else many[:-1]] = tables
    text = tomli_w.dumps(as_written(data))
    return re.sub(r"\[\n\s+([^\[\]\n]*(?:\n[^\[\]\n]*){0,3}),\n\s*\]", _one_line, text)


def _one_line(array: re.Match[str]) -> str:
    """A vector on one line; the writer puts each number on a line of its own."""
    return "[" + " ".join(array[1].split()) + "]"


def save_scene(scene: Scene, path: str | Path) -> None:
    """Write a scene file."""
    Path(path).write_text(scene_to_toml(scene), encoding="utf-8")
