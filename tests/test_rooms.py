"""The rooms of each package: which may import which, how many files they hold, and what their pages say.

A module that lies beside the rooms stands in the hall. A room imports the rooms before it in its row, and modules of the hall.
Those of the hall that stand on rooms are named in ``FLOORS`` with the last room that they may import, and rooms up to that one
may not import them. Imports inside functions and for type checkers are not counted: no order of loading depends on them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.sources import parsed, put_off, statements

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {  # the lowest first
    "collision": "kernels / shapes / distance / contact / pairs / solids / ground / queries / broadphase",
    "sim": "solvers / ledger / forces / joints / flight / contact / scene / impact / recording / world",
    "render": "meshes / frames / cameras / software / opengl / films / figures / web / windows",
    "scenarios": "files / importing / runs / checks / sweeps / measuring / showing / catalog / validation / verbs",
}
FLOORS = {  # what stands in the hall, and on which room; what is not named here stands on none
    "collision": {"linalg": "kernels", "geometry": "kernels", "bounds": "kernels", "halving": "kernels", "narrowphase": "pairs"},
    "sim": {"readout": "joints", "assemble": "contact", "pipeline": "recording", "compiled": "recording"},
    "scenarios": {"cli": "verbs", "warm": "runs"},
}
FLAT = {"catalog", "validation"}  # of scenarios: as many files as there are scenes and cases
APART = {"reference", "page", "shaders"}  # a second collision that its own page imports; data
MOST_ROOMS, MOST_FILES = 10, 12
ORDER = {package: row.split(" / ") for package, row in ROOMS.items()}


def room_of(module: str) -> str:
    """The room of a module, "" in the hall: ``tumble.sim.contact.half_kick`` is in contact."""
    _, package, *parts = module.split(".")
    return parts[0] if len(parts) > 1 or (parts and parts[0] in ORDER[package]) else ""


def level(module: str) -> int:
    """How high a module stands, 0 the ground floor: rooms at 2, 4, 6 ..., a module that stands on a room one above it."""
    package, name = module.split(".")[1], module.split(".")[-1]
    room = room_of(module)
    if room:
        return 2 * ORDER[package].index(room) + 2
    on = FLOORS.get(package, {}).get(name)
    return 2 * ORDER[package].index(on) + 3 if on else 0


def imported(source: str, package: str) -> list[str]:
    """Modules and names of the package that a source imports when it is loaded."""
    late, found = put_off(source), []
    for node in statements(parsed(source)):
        if node in late:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.startswith(f"tumble.{package}.")]


def breaches(module: str, source: str) -> list[str]:
    """Imports by which a module reaches up: into a room above its own, or to what stands on one."""
    package = module.split(".")[1]
    out = []
    for name in imported(source, package):
        parts = name.split(".")
        if parts[2] in APART:
            continue
        target = ".".join(parts[:4] if parts[2] in ORDER[package] else parts[:3])
        if room_of(target) != room_of(module) and level(target) > level(module):
            out.append(f"{module} imports {name}")
    return out


def modules(package: str) -> dict[str, Path]:
    files = sorted((ROOT / package).rglob("*.py"))
    return {".".join(("tumble", *f.relative_to(ROOT).with_suffix("").parts)): f for f in files}


@pytest.mark.parametrize("package", ORDER)
def test_rooms_import_one_way(package):
    found = []
    for module, file in modules(package).items():
        if file.name != "__init__.py" and module.split(".")[2] not in APART:
            found += breaches(module, file.read_text(encoding="utf-8"))
    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("tumble.sim.contact.contact_solve", "from tumble.sim.impact.impact_loop import drift"),
        ("tumble.sim.solvers.newton", "from tumble.sim.contact import contact_solve"),
        ("tumble.sim.contact.touching.contact_table", "import tumble.sim.pipeline"),
        ("tumble.sim.state", "from tumble.sim.forces.path import Path"),
        ("tumble.sim.joints.mechanism.tree", "from tumble.sim.world.world import World"),
        ("tumble.collision.pairs.sphere", "from tumble.collision.narrowphase import distance"),
        ("tumble.collision.distance.gjk", "from tumble.collision.queries.batch import table"),
        ("tumble.scenarios.files.scene_files", "from tumble.scenarios.runs.scene_run import run_scene"),
        ("tumble.render.frames.frame", "from tumble.render.films import video"),
    ],
)
def test_a_way_up_is_seen(module, source):
    assert breaches(module, source) == [f"{module} imports {imported(source, module.split('.')[1])[0]}"]
    late = f"def f():\n    {source}"
    assert breaches(module, late) == []


def folders(package: str) -> dict[str, list[Path]]:
    """Files of the hall (""), of each room, and of each room within a room."""
    out: dict[str, list[Path]] = {}
    for file in modules(package).values():
        folder = file.parent.relative_to(ROOT / package).as_posix().removeprefix(".")
        out.setdefault(folder, [])
        if file.name != "__init__.py":
            out[folder].append(file)
    return out


@pytest.mark.parametrize("package", ORDER)
def test_rooms_are_few_and_small(package):
    there = folders(package)
    rooms = {name.split("/")[0] for name in there} - {""} - APART
    assert rooms == set(ORDER[package])
    assert len(rooms) <= MOST_ROOMS
    large = {name: len(files) for name, files in there.items() if len(files) > MOST_FILES and name not in FLAT}
    assert large == {}


def twice(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Of (name, where it stands): names that stand in several places."""
    places: dict[str, list[str]] = {}
    for name, where in names:
        places.setdefault(name, []).append(where)
    return {name: there for name, there in places.items() if len(there) > 1}


def test_a_name_of_a_module_is_said_once():
    """Who reads ``tables.py`` in a message or a note should not have to ask which."""
    named = [(file.stem, module) for package in ORDER for module, file in modules(package).items()]
    assert set(twice(named)) <= {"__init__", "errors"}
    assert twice([*named, ("newton", "tumble.collision.pairs.newton")])["newton"]


def defined(source: str) -> list[str]:
    """Functions and constants at the top of a module that others may import."""
    found = []
    for node in parsed(source).body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name) and n.id.isupper()]
    return [name for name in found if not name.startswith("_")]


def test_dynamics_and_geometry_name_their_things_apart():
    """What has one name in both is one thing: what worlds ask of geometry, a library of kernels, lanes and their code."""
    names = {p: {n for f in modules(p).values() for n in defined(f.read_text(encoding="utf-8"))} for p in ("sim", "collision")}
    behind = set(defined((ROOT / "collision/kernels/intrinsics/lanes_code.py").read_text(encoding="utf-8")))
    assert (names["sim"] & names["collision"]) - behind == {"ray_cast", "ray_casts", "LIBRARY"}
    assert {"sphere_box", "MOST", "LEAST"} <= set(defined("MOST, LEAST = 1, 2\ndef sphere_box(): pass"))


@pytest.mark.parametrize("package", ORDER)
def test_each_room_has_its_page(package):
    """A page is text alone, of seven to twenty-five lines, and names each file of its room and none that is not there."""
    wrong = []
    for folder, files in folders(package).items():
        if folder.split("/")[0] in {"", *APART, *FLAT}:
            continue
        wrong += page_breaches(folder, (ROOT / package / folder / "__init__.py").read_text(encoding="utf-8"), files)
    assert wrong == []


def page_breaches(folder: str, source: str, files: list[Path]) -> list[str]:
    tree = parsed(source)
    text = ast.get_docstring(tree) or ""
    wrong = [f"{folder}: imports or code on its page"] if len(tree.body) != 1 else []
    if not 7 <= len(text.splitlines()) <= 25:
        wrong.append(f"{folder}: {len(text.splitlines())} lines")
    wrong += [f"{folder}: no {part}" for part in ("In:", "Out:", "Equations:") if not re.search(f"^{part}", text, re.M)]
    named = set(re.findall(r"(?<![\w/])\w+\.py\b", text))
    there = {file.name for file in files}
    return (
        wrong
        + [f"{folder}: {name} is not on its page" for name in sorted(there - named)]
        + [f"{folder}: {name} is on its page only" for name in sorted(named - there)]
    )


def test_a_page_that_is_wrong_is_seen():
    good = '"""Room.\n\nIn: a.\nOut: b.\n\nEquations: none.\n\nx.py: x.\n\nMore.\nMore.\n"""\n'
    x, y = Path("room/x.py"), Path("room/y.py")
    assert page_breaches("room", good, [x]) == []
    assert page_breaches("room", good, [x, y]) == ["room: y.py is not on its page"]
    assert page_breaches("room", good, []) == ["room: x.py is on its page only"]
    assert page_breaches("room", good + "import x\n", [x]) == ["room: imports or code on its page"]
    assert page_breaches("room", good.replace("Out: b.", "b."), [x]) == ["room: no Out:"]
    assert page_breaches("room", '"""In: a.\nOut: b.\nEquations: x.py."""', [x]) == ["room: 3 lines"]


def dead_paths(text: str) -> list[str]:
    """Files and folders of the packages that a page names in code marks, and that are not there."""
    paths = re.findall(r"`((?:collision|sim|render|scenarios|tests|tools|benchmarks|tumble)/[\w/.-]*)`", text)
    return sorted({path for path in paths if not (ROOT / path).exists()})


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_pages_name_files_that_are_there(page):
    assert dead_paths((ROOT / "docs" / page).read_text(encoding="utf-8")) == []


def test_a_dead_path_is_seen():
    assert dead_paths("`sim/pipeline.py`, `sim/forces/` and `sim/gone.py`, `sim/attic/`") == ["sim/attic/", "sim/gone.py"]


def missing_answers(text: str) -> list[str]:
    """Of a table that answers with `file`, `name`: names that their files do not define, or as code the page does not have."""
    out = []
    for file, name in re.findall(r"`([\w/]+\.py)`, `(\w+)`", text):
        source = (ROOT / file).read_text(encoding="utf-8")
        if not re.search(rf"^(def|class) {name}\b|^[\w, ]*\b{name}\b[\w, ]* = ", source, re.M):
            out.append(f"{file}: {name}")
    return out


def test_six_questions_have_their_answers():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("### Six questions")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| .*\?", table, re.M)) == 6
    assert len(re.findall(r"`[\w/]+\.py`, `\w+`", table)) == 11
    assert missing_answers(table) == []
    assert missing_answers(table.replace("`_gather`", "`_gone`")) == ["sim/impact/impact_loop.py: _gone"]


MOST_LINES, MOST_FILE_LINES = 60, 600


def long_functions(source: str) -> set[str]:
    """Names of functions with more lines than MOST_LINES, their docstrings apart."""
    found = set()
    for node in statements(parsed(source)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            said = first.end_lineno - first.lineno + 1 if ast.get_docstring(node, clean=False) is not None else 0
            if node.end_lineno - node.lineno + 1 - said > MOST_LINES:
                found.add(node.name)
    return found


def test_functions_and_files_are_short():
    """What is longer has a seam."""
    sources = {f: f.read_text(encoding="utf-8") for package in ORDER for f in modules(package).values()}
    tests = {f: f.read_text(encoding="utf-8") for f in (ROOT / "tests").rglob("*.py")}
    assert set().union(*map(long_functions, sources.values())) == set()
    assert {f.name for f, text in {**sources, **tests}.items() if text.count("\n") > MOST_FILE_LINES} == set()
    lines = "\n    x = 1" * MOST_LINES
    assert long_functions(f"def f():{lines}") == {"f"}
    assert long_functions(f'def f():\n    """One line.\n\n    More."""{lines[10:]}') == set()
