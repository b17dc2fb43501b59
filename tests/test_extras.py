"""What is simulated without the packages of the extras, and what is said where one is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tumble.collision.errors import EXTRAS
from tumble.scenarios.cli import main

ROOT = Path(__file__).resolve().parent.parent
ALL = sorted({module for modules in EXTRAS.values() for module in modules})
BARE = f"import sys\nsys.modules.update(dict.fromkeys({ALL}))\n"  # as where none of them is installed
FALLS = """
import tumble
world = tumble.World()
world.add(tumble.HalfSpace(), kind="static")
crate = world.add(tumble.Box(), position=(0, 0, 1), color="red")
run = world.run(seconds=0.02)
"""


def told(code: str, folder: Path) -> subprocess.CompletedProcess:
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run([sys.executable, "-c", BARE + code], cwd=folder, capture_output=True, text=True, env=plain)


def test_the_core_simulates(tmp_path):
    code = (
        FALLS + "world.save('a.npz')\nprint(tumble.World.load('a.npz').state_hash() == world.state_hash(), run.positions.shape)\n"
    )
    code += "print(tumble.scene_of('stack', boxes=2).build().step(1), world.ray_cast((0, 0, 5), (0, 0, -1)).distance > 3)\n"
    answer = told(code, tmp_path)
    assert answer.stdout.split("\n")[0].startswith("True"), answer.stderr


NEEDS = {
    "tumble.film(run, 'a.mp4')": "film",
    "tumble.render.plots.energy_momentum(run, 'a.png')": "film",
    "tumble.export(run, 'a.glb')": "film",
    "tumble.still(world, 'a.png')": "view",
    "tumble.view(world)": "view",
    "tumble.load_mesh('a.stl')": "mesh",
    "world.run(seconds=0.01, observers=[tumble.Recorder('a')])": "data",
    "tumble.Run.open('a')": "data",
    "run.dataset": "data",
}
ONE_BY_ONE = f"""
import traceback
for code in {list(NEEDS)}:
    try:
        exec(code)
        print()
    except Exception as error:
        print(traceback.format_exception_only(error)[-1].rstrip())
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[str, str]:
    """The last line of what a program ends with at each of these calls: one program, which goes on after each."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "a.stl").write_text("solid a\nendsolid a\n")
    answer = told(FALLS + ONE_BY_ONE, folder)
    return dict(zip(NEEDS, answer.stdout.splitlines(), strict=True))


@pytest.mark.parametrize(("code", "extra"), NEEDS.items())
def test_what_is_missing_is_named_in_one_line(said, code, extra):
    assert said[code].startswith("tumble.collision.errors.MissingExtra: ")
    assert said[code].endswith(f'not installed: pip install "tumble[{extra}]"')


@pytest.mark.usefixtures("no_figures")
def test_the_command_says_it_too(tmp_path, monkeypatch):
    words = ["run", "bouncing_ball", "--seconds", "0.02", "--out", "r"]
    answer = told(f"from tumble.scenarios.cli import main\nsys.exit(main({words}))\n", tmp_path)
    assert answer.returncode == 1
    assert answer.stderr == 'tumble: mcap and pyarrow and xarray and zarr are not installed: pip install "tumble[data]"\n'
    assert not (tmp_path / "r").exists() or not list((tmp_path / "r").iterdir())
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0  # here they are installed


def test_extras_are_those_of_the_project():
    """Each module that may be missing is brought by its extra, and by no other way; ``all`` and ``test`` bring all of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]

    def brought(names: list[str]) -> set[str]:
        out = set()
        for text in names:
            name = text.partition(";")[0].partition(">")[0].strip()
            if name.startswith("tumble["):
                out |= set().union(*(brought(extras[each]) for each in name[7:-1].split(",")))
            else:
                out.add(name.partition("[")[0])
        return out

    for extra, modules in EXTRAS.items():
        assert set(modules) == brought(extras[extra]) - {"pygame-ce"}
    assert set(ALL) - {"distributed"} <= brought(extras["all"])
    for name in ("test", "dev"):
        assert set(ALL) <= brought(extras[name])
    assert brought(extras["all"]) <= brought(extras["demo"])  # of `make demo`
    assert not set(ALL) & brought(project["dependencies"])
    assert len(project["dependencies"]) <= 8
