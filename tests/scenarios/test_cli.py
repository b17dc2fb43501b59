"""The command `tumble`, as a user meets it: in a process of its own."""
# ruff: noqa: E501  the messages stand here on one line, as users see them

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.programs import started
from tumble.render import OVERLAYS
from tumble.scenarios.cli import main, parser
from tumble.scenarios.registry import names
from tumble.sim.recording.run import Run

ROOT = Path(__file__).resolve().parent.parent.parent
SCENE = """
duration = 0.2
[[body]]
name = "floor"
kind = "static"
shape = { type = "halfspace" }
[[body]]
name = "crate"
shape = { type = "box", half_extents = [0.1, 0.1, 0.1] }
position = [0, 0, "10 cm"]
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "import sys; from tumble.scenarios.cli import main; sys.exit(main())", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def tumble(tmp_path):
    """Run `tumble` in an empty folder; (exit code, standard output, standard error)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        answer = subprocess.run(command(*arguments), cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
        return answer.returncode, answer.stdout, answer.stderr

    return call


@pytest.fixture
def tumble_here(tmp_path, monkeypatch, capsys):
    """The same in this process, where the start of another one would tell nothing more."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(list(arguments))
        except SystemExit as end:
            code = end.code
        return (code, *capsys.readouterr())

    yield call
    signal.signal(signal.SIGTERM, before)


def test_list(tumble):
    code, out, err = tumble("list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == names()


def test_show(tumble_here):
    code, out, _ = tumble_here("show", "dzhanibekov")
    assert code == 0
    assert "2.63302756204" in out  # says what to look for
    row = next(line for line in out.splitlines() if line.startswith("perturbation"))
    assert row.split()[1:4] == ["0.01", "rad/s", "real"]


def test_run_scenario(tumble, tmp_path):
    code, out, err = tumble(
        "run", "dzhanibekov", "--seconds", "0.5", "--dt", "1/480", "--set", "perturbation=1e-4", "--every", "4", "--out", "o"
    )
    assert code == 0, err
    run = Run.open(tmp_path / "o")
    assert len(run) == 61
    assert run.scene.dt == 1 / 480
    assert run.scene.parameters["perturbation"] == 1e-4
    assert run.scene.bodies[0].angular_velocity[0] == 1e-4
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["steps"] == 240
    assert summary["scenario"] == "dzhanibekov"
    assert (tmp_path / "o" / "energy.png").stat().st_size > 10_000
    assert not (tmp_path / "o" / "film.mp4").exists()
    for path in ("trajectory.zarr", "summary.json", "energy.png"):
        assert str(Path("o") / path) in out


@pytest.mark.usefixtures("no_figures")
def test_run_file_and_film_it(tumble_here, tmp_path):
    (tmp_path / "my_scene.toml").write_text(SCENE)
    code, out, err = tumble_here("run", "my_scene.toml")
    assert code == 0, err
    assert Run.open(tmp_path / "runs" / "my_scene").duration == pytest.approx(0.2)
    code, out, err = tumble_here("film", "runs/my_scene", "--out", "a.mp4", "--size", "160x90", "--fps", "10", "--preset", "fast")
    assert code == 0, err
    assert out.strip() == "a.mp4"
    assert (tmp_path / "a.mp4").stat().st_size > 500


def test_trace(tumble_here, tmp_path):
    from tumble.collision import Box, Pose, Proximity

    path = tmp_path / "search.json"
    assert Proximity(Box(), Box(), pose_b=Pose((0.9, 0.1, 0.2)), trace=path).colliding
    code, out, err = tumble_here("trace", "search.json")
    assert (code, out.strip(), err) == (0, "search.png", "")
    assert (tmp_path / "search.png").stat().st_size > 10_000


def test_validate(tumble_here, tmp_path, monkeypatch, capsys):
    code, out, err = tumble_here("validate", "v07", "--json", "v.json", "--page", "v.md")
    assert (code, err) == (0, "")
    assert "all 1 cases hold" in out
    assert "## V07" in (tmp_path / "v.md").read_text()
    (result,) = json.loads((tmp_path / "v.json").read_text())
    assert result["holds"]
    assert all(m["value"] <= m["limit"] or m["least"] for m in result["measures"])
    monkeypatch.setattr("tumble.scenarios.validation.free_motion.GM", 0.39)  # of the answer, and of the orbit's start
    arguments = parser().parse_args(["validate", "V07"])
    assert arguments.verb(arguments) == 1
    out = capsys.readouterr().out
    assert "1 of 1 cases fail: V07" in out
    assert "FAILED" in out


def test_doctor(tumble):
    _, out, err = tumble("doctor")
    assert err == ""
    for what in ("python", "numba", "compiler", "kernel cache", "drawing", "film codec"):
        assert f"  {what} " in out
    assert "Traceback" not in out


BAD = [
    (("run", "no_such"), "tumble: scenario = 'no_such': there is none of this name (see `tumble list`)"),
    (("show", "dzanibekov"), "tumble: scenario = 'dzanibekov': there is none of this name; did you mean dzhanibekov? (see `tumble list`)"),
    (("validate", "V00"), "tumble: case = 'V00': must be one of V01 to V37"),
    (("run", "none.toml"), "tumble: none.toml: there is no such file"),
    (("run", "stack", "--set", "boxs=3"), "tumble: boxs = '3': stack has no such parameter; did you mean boxes? (it has boxes, half, friction, top_density)"),
    (("run", "stack", "--set", "boxes=3.5"), "tumble: boxes = '3.5': must be a whole number"),
    (("run", "stack", "--set", "boxes=0"), "tumble: boxes = 0: must be in [1, 200]"),
    (("run", "stack", "--set", "half=3 kg"), "tumble: half = '3 kg': \"kg\" is not a unit of m: use one of m, cm, mm, um, km, in, ft"),
    (("run", "stack", "--set", "boxes"), "tumble: --set = 'boxes': must be name=value"),
    (("run", "tumbling_box", "--set", "spin=1,2"), "tumble: spin = '1,2': must be 3 numbers [rad/s], these are 2"),
    (("run", "bad.toml"), 'tumble: bad.toml: body "crate": densty = 3: unknown key; did you mean density?'),
    (("run", "good.toml", "--set", "a=1"), "tumble: a = '1': good has no such parameter (it has none)"),
    (("run", "stack", "--dt", "0"), "tumble run: argument --dt: '0' must be in [1e-12, 1e+06] [s] (see tumble run --help)"),
    (("run", "stack", "--dt", "1/0"), "tumble run: argument --dt: '1/0' divides by zero (see tumble run --help)"),
    (("run", "stack", "--seconds", "-1"), "tumble run: argument --seconds: '-1' must be positive [s] (see tumble run --help)"),
    (("run", "stack", "--seconds", "nan"), "tumble run: argument --seconds: 'nan' must be a number [s] (see tumble run --help)"),
    (("run", "stack", "--every", "0"), "tumble run: argument --every: '0' must be a whole number of at least 1 (see tumble run --help)"),
    (("run", "stack", "--size", "big"), "tumble run: argument --size: 'big' must be WIDTHxHEIGHT, such as 1280x720 (see tumble run --help)"),
    (("run", "stack", "--preset", "x"), "tumble run: argument --preset: invalid choice: 'x' (choose from"),
    (("run",), "tumble run: the following arguments are required: NAME_OR_FILE (see tumble run --help)"),
    (("fly",), "tumble: argument VERB: invalid choice: 'fly'"),
    ((), "tumble: the following arguments are required: VERB (see tumble --help)"),
    (("trace", "nothing.json"), "tumble: trace = 'nothing.json': can not be read: No such file or directory"),
    (("trace", "/dev/zero"), "tumble: trace = '/dev/zero': is not a regular file of at most 200 MB"),
    (("trace", "good.toml"), "tumble: trace = 'good.toml': is no JSON file"),
    (("film", "nothing", "--out", "a.mp4"), "tumble: nothing: there is no such recording"),
    (("film", "good.toml", "--out", "a.mp4"), "tumble: good.toml: is not a recording of tumble"),
    (("run", "tumbling_box", "--seconds", "0.1", "--out", "thesis"), "tumble: thesis/trajectory.zarr: is there already and is not a recording of tumble; it is left as it is"),
    (("run", "tumbling_box", "--seconds", "0.1", "--out", "good.toml"), "tumble: good.toml: can not be written: File exists"),
    (("run", "broken.py"), "tumble: file = 'broken.py': line 2: invalid syntax"),
    (("run", "failing.py"), "tumble: file = 'failing.py': line 2: ZeroDivisionError: division by zero"),
    (("run", "stack", "--dt", "1", "--seconds", "0.4"), "tumble: seconds = 0.4: must be a step of 1 s at least"),
    (("run", "stack", "--video", "--overlays", "aces"), f"tumble: overlays = 'aces': must be of {', '.join(OVERLAYS)}"),
    (("run", "good.toml", "--video", "--camera", "follow:cat"), "tumble: camera = 'follow:cat': there is no such body; there are floor, crate"),
    (("converge", "stack", "--out", "none/a.png"), "tumble converge: argument --out: 'none/a.png': there is no folder none (see tumble converge --help)"),
    (("export", "o", "--out", "a.doc"), "tumble export: argument --out: 'a.doc' must end in .glb or .csv or .parquet or .mcap (see tumble export --help)"),
    (("sweep", "sweep.toml"), "tumble: parameters = 3: must be a table of the scenario's parameters, [parameters]"),
    (("bench", "stack", "--calls"), "tumble: scene = ['stack']: is nothing for --calls and --start, which time worlds of their own"),
    (("sweep", "thesis"), "tumble: sweep = 'thesis': can not be read: Is a directory"),
]  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(("arguments", "says"), BAD, ids=[" ".join(a) or "nothing" for a, _ in BAD])
def test_bad_input_is_one_line_and_exit_2(tumble_here, tmp_path, arguments, says):
    (tmp_path / "good.toml").write_text(SCENE)
    (tmp_path / "bad.toml").write_text(SCENE + "densty = 3\n")
    (tmp_path / "broken.py").write_text("a = 1\nb = \n")
    (tmp_path / "failing.py").write_text("a = 1\nb = a / 0\n")
    (tmp_path / "sweep.toml").write_text('scenario = "stack"\nparameters = 3\n')
    (tmp_path / "thesis" / "trajectory.zarr").mkdir(parents=True)
    code, out, err = tumble_here(*arguments)
    assert code == 2
    assert out == ""
    assert err.endswith("\n")
    lines = [line for line in err.splitlines() if not line.startswith(("Compil", "Runn"))]
    assert len(lines) == 1
    assert lines[0].startswith(says)
    assert lines[0] == says or says.endswith(("from", "'fly'"))


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_closes_the_recording(tmp_path, kind):
    program = command("run", "tumbling_box", "--seconds", "1e5", "--out", "o")
    store = tmp_path / "o" / "trajectory.zarr"
    deadline = time.monotonic() + 240
    with started(program, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) as process:
        while not (store.exists() and len(Run.open(store)) >= 256):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(kind)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 130
    assert err.splitlines()[-1] == "tumble: stopped: what was recorded is in o/trajectory.zarr; --resume goes on"
    assert "Traceback" not in err
    run = Run.open(store)
    assert not run.complete
    assert "wall_seconds" in run.attributes  # closed, not just dropped
    assert run.steps.tolist() == list(range(len(run)))


def test_closed_pipe_is_no_error(tmp_path):
    program = " ".join([f"'{part}'" for part in command("list")])
    answer = subprocess.run(["bash", "-c", f"{program} | true"], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert answer.stderr == ""


def test_read_only_place_is_one_line(tumble):
    code, _, err = tumble("run", "tumbling_box", "--seconds", "0.1", "--out", "/proc/nowhere")
    assert code == 2
    assert "can not be written" in err.splitlines()[-1]
    assert "Traceback" not in err


@pytest.mark.usefixtures("no_figures")
def test_view(tumble_here, tmp_path, monkeypatch):
    """Scenarios, files and runs come to the window; the window itself is tested where it is."""
    from tumble.sim.scene.scene import Scene

    seen = []
    monkeypatch.setattr(
        "tumble.scenarios.showing.window_loop.view", lambda source, *rest, **named: seen.append((source, rest, named))
    )
    main = lambda *words: parser().parse_args(["view", *words])  # noqa: E731
    arguments = main("stack", "--set", "boxes=3", "--dt", "1/480", "--paused", "--overlays", "text,contacts")
    arguments.verb(arguments)
    scenario, (size, preset, overlays), named = seen.pop()
    assert (scenario.name, named["values"]) == ("stack", {"boxes": 3})
    scene = scenario(**named["values"])
    assert isinstance(scene, Scene)
    named["change"](scene)
    assert scene.dt == 1 / 480
    assert (size, preset, overlays) == ((1280, 720), "default", ("text", "contacts"))
    assert named["paused"]
    assert tumble_here("run", "two_cuboids", "--seconds", "0.1", "--out", "o")[0] == 0
    arguments = main(str(tmp_path / "o"), "--speed", "0.1", "--start", "0.05")
    arguments.verb(arguments)
    run, _, named = seen.pop()
    assert isinstance(run, Run)
    assert (named["speed"], named["start"]) == (0.1, 0.05)
    code, _, err = tumble_here("view", "stak")
    assert code == 2
    assert "did you mean" in err


@pytest.mark.usefixtures("no_figures")
def test_report_and_export(tumble_here, tmp_path):
    assert tumble_here("run", "two_cuboids", "--seconds", "0.1", "--out", "o", "--contacts")[0] == 0
    assert len(Run.open(tmp_path / "o").contacts(0)) == 0
    code, out, err = tumble_here("report", "o", "--no-film")
    assert code == 0, err
    assert out.strip() == str(Path("o") / "report.html")
    assert "<video" not in (tmp_path / "o" / "report.html").read_text()
    code, out, err = tumble_here("export", "o", "--out", "a.glb", "--rate", "20")
    assert code == 0, err
    assert (tmp_path / "a.glb").read_bytes()[:4] == b"glTF"
    code, _, err = tumble_here("report", "o", "--out", "a.doc")
    assert code == 2
    assert "'a.doc' must end in .html or .htm" in err
