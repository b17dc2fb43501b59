"""When observers are called, and what a recording keeps: chosen bodies, precision, compression, steps with events."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios.checks.assertions import assert_conserved, assert_momentum
from tumble.scenarios.registry import load
from tumble.sim import Every, EveryTime, On, Recorder, World
from tumble.sim.recording.run import Run


def ball(dt: float = 1 / 240) -> World:
    world = World(dt=dt)
    world.add(HalfSpace(), kind="static", name="floor", restitution=0.9)
    world.add(Sphere(0.1), name="ball", position=(0, 0, 0.6), restitution=0.9)
    return world


@pytest.mark.parametrize(("dt", "late"), [(1 / 240, 0.0), (0.003, 0.003)])
def test_every_time(dt, late):
    """At each multiple of 0.05 s, or the first step after it."""
    called = []
    world = ball(dt)
    world.run(0.6, [EveryTime(0.05, lambda w: called.append(w.time))])
    assert len(called) == 13
    wanted = 0.05 * np.arange(13)
    assert (called >= wanted - 1e-12).all()
    assert (called - wanted).max() <= late + 1e-12
    now = world.time
    world.run(0.1, [EveryTime(0.05, lambda w: called.append(w.time))])  # from where it is
    assert called[13] == now


def test_on_impact():
    """The ball falls 0.5 m: its impacts are at t1 = sqrt(2 h/g), then each e times the flight before."""
    times, steps = [], []
    run = ball().run(
        1.5,
        [
            Recorder(every=1000),
            On("impact", lambda world, event: times.append((event.time, world.time))),
            On("impact", Every(1, lambda world: steps.append(world.step_count)), between="ball"),
            On("leave", lambda world, event: pytest.fail("there is no sensor")),
        ],
    )
    first = np.sqrt(2 * 0.5 / 9.81)
    exact = [first, first * (1 + 2 * 0.9), first * (1 + 2 * 0.9 + 2 * 0.81)]
    assert [t for t, _ in times] == pytest.approx(exact, abs=1e-12)
    assert all(t <= now < t + 1 / 240 + 1e-12 for t, now in times)
    assert steps == [round(240 * now) for _, now in times]
    assert run.attributes["complete"]


def test_recorder_behind_a_trigger(tmp_path):
    run = ball().run(1.0, [EveryTime(0.25, Recorder(tmp_path / "a"))])
    assert run.times == pytest.approx([0, 0.25, 0.5, 0.75, 1.0])
    run = ball().run(1.0, [On("impact", Recorder(tmp_path / "b"))])
    assert run.steps.tolist() == [77, 215]


def test_chosen_bodies_and_precision(tmp_path):
    scene = load("dropped_cuboids")(count=4)
    names = [scene.bodies[3].name, scene.bodies[1].name]
    whole = scene.build().run(0.5, [Recorder(every=2)])
    small = scene.build().run(0.5, [Recorder(tmp_path / "a", every=2, bodies=names, precision="single", compression=0)])
    packed = scene.build().run(0.5, [Recorder(tmp_path / "b", every=2, compression=19)])
    assert small.names == tuple(names)
    assert [body.name for body in small.bodies] == names
    assert small.positions.dtype == np.float32
    assert np.array_equal(small.positions, whole.positions[:, [3, 1]].astype("f4"))
    assert np.array_equal(small.energy, whole.energy)
    assert np.array_equal(packed.positions, whole.positions)
    assert small.dataset.position.sel(body=names[0]).shape == (61, 3)
    assert_momentum(small)
    assert small.summary()["momentum_drift"] == whole.summary()["momentum_drift"]

    def size(name: str) -> int:
        return sum(f.stat().st_size for f in (tmp_path / name / "position").rglob("*"))

    scene.build().run(0.5, [Recorder(tmp_path / "c", every=2, compression=0)])
    assert size("c") > 8 * whole.positions.size  # chunks are whole
    assert size("a") < 0.5 * size("c")
    assert size("b") < 0.8 * size("c")


def test_film_of_chosen_bodies():
    from tumble.render import picture

    scene = load("dropped_cuboids")(count=3)
    run = scene.build().run(0.1, [Recorder(bodies=["floor", scene.bodies[2].name])])
    assert picture(run, size=(64, 48)).shape == (48, 64, 4)
    assert_conserved(run, "energy")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Recorder(bodies="ball"), "bodies = 'ball': must be a list of names"),
        (lambda: Recorder(bodies=[]), "bodies = []: must be a list of names"),
        (lambda: Recorder(precision="half"), "precision = 'half'"),
        (lambda: Recorder(compression=23), "compression = 23"),
        (lambda: Recorder(append=True), "append = True"),
        (lambda: EveryTime(0, print), "seconds = 0"),
        (lambda: On("bang", print), "kind = 'bang': must be one of begin, persist"),
        (lambda: On("impact", print, between=("a", "b", "c")), "between = "),
        (lambda: ball().run(0.1, [On("impact", print, between="bell")]), "between = 'bell': there is no such body"),
        (lambda: ball().run(0.1, [Recorder(bodies=["bell"])]), "bodies = 'bell': there is no such body"),
        (
            lambda: ball().run(0.1, [Recorder(bodies=["ba*", "c*"])]),
            "bodies = 'c*': there is no such body; there are floor, ball",
        ),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(InputError) as caught:
        wrong()
    assert says in str(caught.value)


def test_open_run_of_nothing_chosen(tmp_path):
    ball().run(0.1, [Recorder(tmp_path / "a", bodies=["ball"])])
    assert Run.open(tmp_path / "a").index("ball") == 0
