"""What is simulated without the packages of the extras, and what is said where one is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tumble.collision.errors import EXTRAS

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


def told(code: str, folder: Path, before: str = BARE) -> subprocess.CompletedProcess:
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run([sys.executable, "-c", before + code], cwd=folder, capture_output=True, text=True, env=plain)


def test_the_core_simulates(tmp_path):
    code = (
        FALLS + "world.save('a.npz')\nprint(tumble.World.load('a.npz').state_hash() == world.state_hash(), run.positions.shape)\n"
    )
    code += "print(tumble.scene_of('stack', boxes=2).build().step(1), world.ray_cast((0, 0, 5), (0, 0, -1)).distance > 3)\n"
    answer = told(code, tmp_path)
    assert answer.stdout.split("\n")[0].startswith("True"), answer.stderr


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("tumble.film(run, 'a.mp4')", "film"),
        ("tumble.render.plots.energy_momentum(run, 'a.png')", "film"),
        ("tumble.export(run, 'a.glb')", "film"),
        ("tumble.still(world, 'a.png')", "view"),
        ("tumble.view(world)", "view"),
        ("tumble.load_mesh('a.stl')", "mesh"),
        ("world.run(seconds=0.01, observers=[tumble.Recorder('a')])", "data"),
        ("tumble.Run.open('a')", "data"),
        ("run.dataset", "data"),
    ],
)
def test_what_is_missing_is_named_in_one_line(tmp_path, code, extra):
    (tmp_path / "a.stl").write_text("solid a\nendsolid a\n")
    last = told(FALLS + code, tmp_path).stderr.splitlines()[-1]
    assert last.startswith("tumble.collision.errors.MissingExtra: ")
    assert last.endswith(f'not installed: pip install "tumble[{extra}]"')


def test_the_command_says_it_too(tmp_path):
    code = "from tumble.scenarios.cli import main\nsys.exit(main(['run', 'bouncing_ball', '--seconds', '0.02', '--out', 'r']))\n"
    answer = told(code, tmp_path)
    assert answer.returncode == 1
    assert answer.stderr == 'tumble: mcap and pyarrow and xarray and zarr are not installed: pip install "tumble[data]"\n'
    assert not (tmp_path / "r").exists() or not list((tmp_path / "r").iterdir())
    assert told(code, tmp_path, before="import sys\n").returncode == 0


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
