"""What an editor shows of the packages: arguments, completions, and types that a strict checker finds no fault with."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import tumble
from tests.test_readme import PAGES, blocks
from tumble import collision, render, scenarios, sim
from tumble.collision.errors import InputError
from tumble.sim import Scene, World
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.materials import MATERIAL
from tumble.sim.scene.materials import SURFACE_FIELDS as COEFFICIENTS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (collision, sim, render, scenarios)
NAMES = (*PACKAGES, tumble)
HEAD = """
from tumble.collision import Box, ConvexHull, HalfSpace, Pose, signed_distance, signed_distances
from tumble.render import film, still
from tumble.scenarios import load, load_scene
from tumble.sim import Hinge, Recorder, Run, Scene, World
world = World()
box = world.add(Box())
run = world.run(1.0)
"""


@pytest.fixture(scope="module")
def editor():
    """What jedi, the language server of many editors, knows at the end of a text; it runs nothing of it."""
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(ROOT, added_sys_path=[str(ROOT)])
    return lambda text: jedi.Script(HEAD + text, path=ROOT / "mine.py", project=project)


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("world.add(", ["shape: Shape", "position: Numbers", "friction: float | None", "-> Body"]),
        ("world.add_many(", ["positions: Rows", "masses: Numbers | None", "-> list[Body]"]),
        ("Scene().add(", ["shape: Shape", "position: Numbers", "-> BodyDef"]),
        ("World(", ["gravity: Numbers", "dt: float", 'solver: Literal["newton", "sweeps"]']),
        ("world.set_material(", ["name: str", "restitution: float | None"]),
        ("world.run(", ["seconds: float", "-> Run"]),
        ("world.ray_cast(", ["origin: Numbers", "direction: Numbers"]),
        ("box.apply_force(", ["force: Numbers", "point: Numbers | None"]),
        ("Hinge(", ["a: Body | str | None", "axis: Numbers", "motor_torque: float"]),
        ("Recorder(", ["path: FileName | None", "every: int"]),
        ("film(", ["path: str | os.PathLike[str]", "fps: float"]),
        ("signed_distance(", ["pose_a: PoseLike", "-> Distance"]),
        ("signed_distances(", ["positions_a: Numbers | Rows", "-> Distances"]),
        ("Pose.from_euler_xyz(", ["angles: Numbers", "-> Pose"]),
        ("load_scene(", ["path: "]),
        ("import tumble; tumble.Box(", ["half_extents: Numbers"]),
        ("from tumble import run_scenario; run_scenario(", ["seconds: float | None", "-> Run"]),
    ],
)
def test_an_editor_shows_the_arguments(editor, call, shown):
    (signature,) = editor(call).get_signatures()
    assert [part for part in shown if part not in signature.to_string()] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("world.add(Box(), pos", {"position="}),
        ("box.", {"position", "apply_force", "apply_torque", "mass", "friction", "kind"}),
        ("world.add(Box()).position.", {"sum", "shape"}),
        ("world['box'].", {"velocity"}),
        ("world.add_joint(Hinge(None, box)).", {"stiffness", "rest", "limits", "damping", "motor_speed", "angle"}),
        ("world.energy().", {"total", "potential"}),
        ("world.ledger.", {"friction", "residual", "closes"}),
        ("world.events()[0].", {"kind", "impulse"}),
        ("world.name", {"names"}),
        ("run.", {"positions", "ledger", "summary", "replay"}),
        ("Run.open('a').times.", {"shape"}),
        ("signed_distance(Box(), Pose(), Box(), Pose()).", {"distance", "normal"}),
        ("load('stack').", {"parameters"}),
        ("from tumble import collision; collision.", set(collision.__all__)),
        ("from tumble import sim; sim.", set(sim.__all__)),
        ("from tumble import render; render.", set(render.__all__)),
        ("from tumble import scenarios; scenarios.", set(scenarios.__all__)),
        ("import tumble; tumble.", set(tumble.__all__)),
        ("import tumble; tumble.World().", {"add", "energy", "positions"}),
        ("import tumble; tumble.collision.", set(collision.__all__)),
    ],
)
def test_an_editor_completes(editor, text, found):
    assert found <= {completion.name_with_symbols for completion in editor(text).complete()}


@pytest.mark.parametrize("package", NAMES, ids=lambda package: package.__name__)
def test_dir_lists_what_is_public(package):
    assert set(package.__all__) <= set(dir(package))
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert (Path(package.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("package", NAMES, ids=lambda package: package.__name__)
def test_stubs_name_what_is_public(package):
    stub = Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    rows = [line.split() for line in stub.splitlines() if line.startswith("from ")]  # from room import name as name
    themselves = [line.split()[1] for line in stub.splitlines() if line.startswith("import ")]  # import sim as sim
    assert sorted([*(row[3] for row in rows), *themselves]) == sorted(package.__all__)
    for _, room, _, name, _, again in rows:
        assert name == again
        assert getattr(importlib.import_module(room), name) is getattr(package, name)


def test_one_name_has_all():
    """What two packages have is that of the first: a Distance is the joint, as in ``sim``."""
    for package in reversed([importlib.import_module(f"tumble.{name}") for name in tumble.PACKAGES]):
        assert getattr(tumble, package.__name__.partition(".")[2]) is package
        for name in package.__all__:
            first = next(p for p in (getattr(tumble, each) for each in tumble.PACKAGES) if name in p.__all__)
            assert getattr(tumble, name) is getattr(first, name)
    assert tumble.Distance is sim.Distance
    with pytest.raises(AttributeError, match="did you mean World"):
        tumble.Wrld  # noqa: B018


def public() -> list:
    """Public functions, and the public methods and makers of public classes."""
    out = []
    ours = lambda f: f.__module__.split(".")[0] == "tumble"  # noqa: E731  not what is inherited
    for package in PACKAGES:
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing):
                methods = {n: getattr(thing, n) for n in dir(thing) if not n.startswith("_")}
                out += [
                    pytest.param(m, id=f"{name}.{n}")
                    for n, m in methods.items()
                    if (inspect.isfunction(m) or inspect.ismethod(m)) and ours(m)
                ]
                own = inspect.isfunction(thing.__init__) and ours(thing.__init__)
                out += [pytest.param(thing.__init__, id=name)] if own else []
            elif inspect.isfunction(thing):
                out.append(pytest.param(thing, id=name))
    return out


@pytest.mark.parametrize("function", public())
def test_every_public_argument_has_a_type(function):
    """And none hides behind ``**``, but for the parameters of scenarios and the fields of ``replace``."""
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.name in ("self", "given") or parameter.annotation is not inspect.Parameter.empty, parameter.name
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            assert parameter.name in ("parameters", "values", "changes", "out", "options"), parameter.name


def test_there_are_public_functions():
    assert len(public()) > 150


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: collision.Box(half_extent=(1, 1, 1)), "half_extents"),
        (lambda: collision.Compound(part=[]), "parts"),
        (lambda: sim.World(gravty=(0, 0, 0)), "gravity"),
        (lambda: sim.World().add(collision.Box(), positon=(0, 0, 1)), "position"),
        (lambda: sim.World().add_many(collision.Box(), [(0, 0, 0)], frction=1), "friction"),
        (lambda: sim.World().set_material("wood", frction=1), "friction"),
        (lambda: sim.World().run(second=1), "seconds"),
        (lambda: sim.Scene(durations=1), "duration"),
        (lambda: sim.Scene().add(collision.Box(), colour="red"), "color"),
        (lambda: sim.Hinge(None, "arm", axes=(0, 0, 1)), "axis"),
        (lambda: sim.Recorder("a", evry=2), "every"),
        (lambda: scenarios.load("stack")(boxs=2), "boxes"),
    ],
)
def test_a_typo_is_told_what_was_meant(call, meant):
    with pytest.raises(InputError, match=f"did you mean {meant}"):
        call()


# Examples whose own functions go without types, as those for pytest and Numba are written, and numbers of structured arrays.
UNTYPED = {"testing_1", "own_forces_1", "free_motion_2", "contacts_1", "first_kernel_1", "first_force_1"}
# What the verbs of the command line do, called from Python.
VERBS = """
from tumble.scenarios import load, run_scene, scene_of
from tumble.scenarios.checks.rerun import check
from tumble.scenarios.checks.compare import compare
from tumble.scenarios.checks.converge import converge
from tumble.scenarios.sweeps.ensemble import load_plan
from tumble.scenarios.showing.report import plot_run, write_report
from tumble.scenarios.sweeps.sweep import statistics, sweep
from tumble.sim import Run

made = run_scene(scene_of(load("stack"), boxes=3), "runs/stack", seconds=1.0)
run = Run.open("runs/stack")
print(write_report(run, "a.html", film=False), plot_run(run, "a.png"))
print(check(run), compare(run, run), converge(load("stack"), seconds=1.0, boxes=3), converge("stack"))
store = sweep(load_plan("plan.toml"), "runs/sweep")
print(len(store.path.name), statistics(store))
"""
OTHERS = ("trimesh", "open_zarr")  # libraries whose own types are not complete


def test_examples_of_the_docs_pass_a_strict_type_checker(tmp_path):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    lines = {}
    for page in PAGES:
        for k, code in enumerate(blocks(page, "python"), 1):
            name = f"{page.stem.replace('-', '_')}_{k}"
            lines[name] = code.splitlines()
            (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(
        "from tumble.sim import World\nWorld().add(3)\nWorld(gravty=(0, 0, 1))\n", encoding="utf-8"
    )
    (tmp_path / "verbs.py").write_text(VERBS, encoding="utf-8")
    lines["verbs"] = VERBS.splitlines()
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "-p", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    answer = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(answer.stdout)["generalDiagnostics"]
    faults, seen = [], []
    for fault in found:
        name, line = Path(fault["file"]).stem, fault["range"]["start"]["line"]
        if name == "wrong":
            seen.append(fault["rule"])
        elif "Unknown" in fault["rule"] or "Missing" in fault["rule"]:
            if name not in UNTYPED and not any(word in lines[name][line] for word in OTHERS):
                faults.append(f"{name}: {lines[name][line]}: {fault['message']}")
        else:
            faults.append(f"{name}: {lines[name][line]}: {fault['message']}")
    assert faults == []
    assert set(seen) == {"reportArgumentType", "reportCallIssue"}  # it sees a shape that is none, and a keyword that is none


def fields_of(function) -> dict[str, object]:
    """Keyword-only arguments by name, with their defaults."""
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.kind is inspect.Parameter.KEYWORD_ONLY}


DEFINED = {f.name: f.default for f in fields(BodyDef) if f.name not in ("shape", "apart")}
BY_MATERIAL = dict.fromkeys(MATERIAL)  # None: what the material says, else what a body has
SAID = {**DEFINED, **BY_MATERIAL}
OF_MANY = {"orientations", "velocities", "angular_velocities", "names", "masses", "densities", "colors"}  # rows, one for each


@pytest.mark.parametrize("function", [World.add, Scene.add], ids=["World.add", "Scene.add"])
def test_a_body_is_added_by_all_of_its_fields(function):
    """The signatures are written out, for editors; a field more of BodyDef, or a default of its own, is found here."""
    assert fields_of(function) == SAID


def test_many_bodies_are_added_by_all_of_the_fields_that_they_share():
    found = fields_of(World.add_many)
    assert {name: found.pop(name) for name in OF_MANY} == dict.fromkeys(OF_MANY)
    assert found == {name: value for name, value in SAID.items() if name not in ("name", "position", "path")}


@pytest.mark.parametrize("owner", [World, Scene])
def test_materials_and_pairs_take_all_that_they_may_say(owner):
    assert fields_of(owner.set_material) == BY_MATERIAL
    assert fields_of(owner.set_pair) == dict.fromkeys(COEFFICIENTS)


def test_a_list_that_lacks_a_field_is_found():
    def add(self, shape, *, name="", kind="dynamic"): ...

    assert fields_of(add) == {"name": "", "kind": "dynamic"} != SAID
