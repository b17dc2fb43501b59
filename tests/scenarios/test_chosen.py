"""Recordings of chosen bodies, in single precision: what the verbs and assertions make of them is right, or they say so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.programs import leave_out_figures
from tumble.collision.errors import InputError
from tumble.render.frames.recorded import RunFrames
from tumble.scenarios.checks.assertions import assert_conserved, assert_ledger_closes, assert_momentum
from tumble.scenarios.checks.baselines import Baselines
from tumble.scenarios.checks.compare import compare
from tumble.scenarios.checks.rerun import check
from tumble.scenarios.cli import parser
from tumble.scenarios.runs.scene_run import run_scene, scene_of
from tumble.sim import Recorder, Run

SECONDS = 0.2
ARGUMENTS = ["run", "dominoes", "--set", "count=4", "--seconds", str(SECONDS), "--every", "4"]
CHOSEN = ["--bodies", "domino_[34], domino_1", "--precision", "single", "--compression", "5", "--contacts"]


def tumble(*arguments: object) -> int:
    chosen = parser().parse_args([str(a) for a in arguments])
    return chosen.verb(chosen) or 0


def scene():
    return scene_of("dominoes", count=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs "whole" and "some" of the same scene, as the command writes them."""
    out = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_figures(patch)
        tumble(*ARGUMENTS, "--out", out / "whole")
        tumble(*ARGUMENTS, *CHOSEN, "--out", out / "some")
    return out


def test_command(folder):
    whole, some = Run.open(folder / "whole"), Run.open(folder / "some")
    assert some.names == ("domino_3", "domino_4", "domino_1")
    assert (some.precision, whole.precision) == ("single", "double")
    assert some.dataset.position.dtype == np.float32
    assert some._arrays["position"].compressors[0].level == some._arrays["contact_force"].compressors[0].level == 5
    rows = [whole.index(name) for name in some.names]
    assert np.array_equal(some.velocities, whole.velocities[:, rows].astype("f4"))
    assert np.array_equal(some.energy, whole.energy)
    assert {"floor", "domino_2"} < set(some.partners)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--bodies", "nobody*"], "bodies = 'nobody*': there is no such body; there are floor, domino_1, domino_2"),
        (["--bodies", ","], "bodies = []: must be a list of names"),
    ],
)
def test_bad_input(tmp_path, more, says):
    with pytest.raises(InputError) as caught:
        tumble(*ARGUMENTS, *more, "--out", tmp_path)
    assert says in str(caught.value)
    assert list(tmp_path.iterdir()) == []  # found before anything ran


@pytest.mark.parametrize("more", [["--compression", "23"], ["--precision", "half"]])
def test_bad_options(more, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args([*ARGUMENTS, *more])
    assert more[1] in capsys.readouterr().err


@pytest.mark.usefixtures("no_figures")
def test_resume_records_as_it_was_begun(folder, tmp_path):
    tumble("run", "dominoes", "--set", "count=4", "--seconds", 0.1, "--every", 4, *CHOSEN, "--out", tmp_path)
    resume = ["run", "dominoes", "--set", "count=4", "--seconds", SECONDS, "--resume", "--out", tmp_path]
    for option, value, had in (("--precision", "double", "single"), ("--compression", 1, 5), ("--bodies", "floor", "domino_3")):
        with pytest.raises(InputError, match=f"the run in .* had .*{had}.*: resume it as it was begun"):
            tumble(*resume, option, value)
    tumble(*resume)
    run, other = Run.open(tmp_path), Run.open(folder / "some")
    assert run.attributes["state_hash"] == other.attributes["state_hash"]
    for name in other._arrays:
        assert np.array_equal(run._arrays[name][:], other._arrays[name][:]), name


def test_append_must_be_of_the_same_precision(tmp_path):
    from tumble.sim import RecordingError

    world = scene().build()
    world.run(0.1, [Recorder(tmp_path / "a", precision="single")])
    with pytest.raises(RecordingError, match="is in single precision"):
        world.run(0.1, [Recorder(tmp_path / "a", append=True)])


def test_check_and_compare(folder):
    whole, some = Run.open(folder / "whole"), Run.open(folder / "some")
    found = check(some)
    assert found.same
    assert [note for note in found.notes if "recorded" in note] == [
        "3 of 5 bodies recorded; the others by the hash of the last state alone",
        "poses and velocities rounded to single precision, as they were recorded",
    ]
    for pair in ((whole, some), (some, whole)):
        found = compare(*pair)
        assert found.same
        assert not found.apart.any()
        assert "3 bodies in common" in found.notes[0]
    other = scene_of("dominoes", count=4, push=4.001).build().run(SECONDS, [Recorder(every=4, bodies=["domino_4", "domino_1"])])
    found = compare(some, other)
    assert found.first.body == "domino_1"
    with pytest.raises(InputError, match="none was recorded in both"):
        compare(some, scene().build().run(0.1, [Recorder(bodies=["floor"])]))
    arrays = {name: np.array(some._arrays[name]) for name in some._arrays}
    arrays["position"][7, 1, 2] = np.nextafter(arrays["position"][7, 1, 2], np.float32(9))
    found = check(Run(arrays, some.names, some.attributes))  # the twin: one last bit of single precision
    assert (found.first.step, found.first.body, found.first.quantity) == (28, "domino_4", "position")


def test_pictures_show_what_stands_still(folder):
    """The floor was not recorded, and is known; who touches is told by the row it has in the picture."""
    frames = RunFrames(Run.open(folder / "some"))
    assert frames.cast.names == ("domino_3", "domino_4", "domino_1", "floor")
    frames.contacts = True
    frame, rows = frames.at(SECONDS), Run.open(folder / "some").contacts(-1)
    assert frame.positions[3].tolist() == [0, 0, 0]
    seen = {-1: "domino_2", **dict(enumerate(frames.cast.names))}
    partners = Run.open(folder / "some").partners
    assert [[seen[i] for i in pair] for pair in frame.contacts.bodies.tolist()] == [
        [partners[row["body_a"]], partners[row["body_b"]]] for row in rows
    ]


def test_assertions(folder):
    some, whole = Run.open(folder / "some"), Run.open(folder / "whole")
    assert_momentum(some)
    assert_ledger_closes(some)
    assert some.summary()["momentum_drift"] == whole.summary()["momentum_drift"]
    free = scene_of("two_cuboids").build().run(1.0, [Recorder(bodies=["small"])])
    assert_conserved(free, "momentum", rtol=1e-12)
    assert free.summary()["angular_momentum_drift"] is None
    with pytest.raises(InputError, match="chosen bodies.*give atol"):
        assert_conserved(free, "angular_momentum")
    assert_conserved(free, "angular_momentum", rtol=0, atol=1e-10)
    spoiled = Run({**free._arrays, "momentum": free.momentum + 1e-9 * free.times[:, None]}, free.names, free.attributes)
    with pytest.raises(AssertionError):
        assert_conserved(spoiled, "momentum", rtol=1e-12)


def test_baseline(folder, tmp_path):
    """Of the recorded bodies; a tolerance that the last bit of single precision stays in."""
    some = Run.open(folder / "some")
    before = some.scene.to_dict()
    Baselines(tmp_path / "b", update=True)(some)
    assert some.scene.to_dict() == before
    Baselines(tmp_path / "b")(some)
    numbers = json.loads((tmp_path / "b.json").read_text())["quantities"]
    mean = numbers["mean x of the bodies at the end [m]"]
    assert mean["value"] == some.positions[-1][:, 0].mean()
    assert mean["tolerance"] > np.spacing(np.float32(mean["value"]))


def test_run_scene_is_the_command(folder):
    how = dict(every=4, bodies=["domino_[34]", "domino_1"], precision="single", contacts=True)
    run = run_scene(scene(), None, SECONDS, quiet=True, **how).run
    assert compare(run, Run.open(folder / "some")).same
    assert np.array_equal(run.contacts(-1), Run.open(folder / "some").contacts(-1))
