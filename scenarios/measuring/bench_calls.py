"""What calls from Python cost, what a start costs, and many worlds at once; beside MuJoCo where it is installed.

Times are the least of several rounds, in one process one after the other: ratios hold on a busy machine too.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tumble.collision import Box, HalfSpace, Sphere
from tumble.collision.kernels.sources import import_path
from tumble.scenarios.registry import load
from tumble.sim import Hinge, World, Worlds

ROUNDS = 7
ROUND = 1e-3  # [s] of a round: a third of what a scheduler gives to one program at a time
MEMBERS, STEPS = 64, 100
BOXES = 1000  # in one world, whose steps threads share
NONE = float("nan")  # what is not known


class Row(NamedTuple):
    """A measured cost, and that of the same in MuJoCo, nan where it has none or is not there."""

    what: str
    unit: str
    ours: float
    theirs: float = NONE


def least(function: Callable[[], Any], count: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Microseconds of one call: the least mean of rounds that are so short that others seldom come between; some ``count`` calls
    in each of ROUNDS."""
    function()
    begun = clock()
    function()
    size = max(1, min(count, int(ROUND / max(clock() - begun, 1e-9))))
    best = float("inf")
    for _ in range(-(-ROUNDS * count // size)):
        begun = clock()
        for _ in range(size):
            function()
        best = min(best, (clock() - begun) / size)
    return 1e6 * best


def mujoco() -> Any:
    """The module, None where it is not installed."""
    return importlib.import_module("mujoco") if importlib.util.find_spec("mujoco") else None


BALL = '<body pos="0 0 1e6"><freejoint/><geom type="sphere" size="0.5"/></body>'
BOX = '<geom type="plane" size="9 9 1"/><body pos="0 0 0.5"><freejoint/><geom type="box" size="0.5 0.5 0.5"/></body>'
ARM = (
    '<body pos="0 0 2"><joint name="hinge" type="hinge" axis="0 1 0"/><geom type="box" size="0.1 0.1 0.5" pos="0 0 -0.5"/></body>'
)
SECOND = '<body pos="0 0 -1"><joint type="hinge" axis="0 1 0"/><geom type="box" size="0.1 0.1 0.5" pos="0 0 -0.5"/></body>'


def theirs(bodies: str, actuator: str = "") -> tuple[Any, Any, Any]:
    """(mujoco, model, data) of a model with RK4, at our step; Nones where it is not installed."""
    module = mujoco()
    if module is None:
        return None, None, None
    option = '<option timestep="0.004166666666666667" integrator="RK4" cone="elliptic"/>'
    model = module.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{bodies}</worldbody>{actuator}</mujoco>")
    return module, model, module.MjData(model)


def pendulum(torque: float = 1.0) -> tuple[Any, Any, Any]:
    """A world with an arm on a hinge that has a motor."""
    world = World()
    arm = world.add(Box((0.1, 0.1, 0.5)), position=(0, 0, 1.5), name="arm")
    return world, arm, world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0), motor_torque=torque))


def calls() -> list[Row]:
    """Costs of single calls [us]."""
    return _of_a_ball() + _of_a_box() + recorded() + _of_a_pendulum() + shared()


def _of_a_ball() -> list[Row]:
    """Steps of a free ball, what reading it costs, also among many, and loads on it."""
    world = World()
    ball = world.add(Sphere(0.5), position=(0, 0, 1e6), angular_velocity=(1, 2, 3))
    world.step(1000)
    module, model, data = theirs(BALL)
    rows = [
        Row("a step of a free ball, one of 1000 in a call", "us", least(lambda: world.step(1000), 5) / 1000),
        Row("a step of a free ball, in a call of its own", "us", least(world.step, 2000), _step(module, model, data)),
        Row("the same, above its kernel", "us", _above(world)),
    ]
    read = (lambda: data.xpos[1]) if module else None
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        cost = least(lambda name=name: getattr(ball, name), 5000)
        rows.append(Row(f"body.{name}", "us", cost, least(read, 5000) if read and name == "position" else NONE))
    many = World()
    for k in range(1000):
        last = many.add(Sphere(0.1), position=(k, 0, 0))
    return [
        *rows,
        Row("body.position, of 1000 bodies", "us", least(lambda: last.position, 5000)),
        Row("body.apply_force", "us", least(lambda: ball.apply_force((1.0, 0.0, 0.0)), 2000)),
        Row("body.apply_torque", "us", least(lambda: ball.apply_torque((1.0, 0.0, 0.0)), 2000)),
    ]


def _above(world: Any) -> float:
    """What ``world.step()`` costs besides the kernel that it calls [us]; the two take turns."""
    kernel = world._advancing()
    pairs = [(least(world.step, 500), least(lambda: kernel(1), 500)) for _ in range(ROUNDS)]
    return min(step for step, _ in pairs) - min(alone for _, alone in pairs)


def shared() -> list[Row]:
    """A step of many bodies by all threads beside one; the two take turns."""
    alone, together = (load("tumbling_boxes")(count=BOXES).build() for _ in range(2))
    alone.threads = 1
    for world in (alone, together):
        world.step(10)
    turns = [[least(lambda world=world: world.step(5), 4) / 5 for world in (alone, together)] for _ in range(ROUNDS)]
    one, several = (min(column) for column in zip(*turns, strict=True))
    return [
        Row(f"a step of {BOXES} tumbling boxes, one thread", "us", one),
        Row(f"the same by {together.threads} threads beside one", "times", several / one),
    ]


def _of_a_box() -> list[Row]:
    """Steps of a box that rests on a floor."""
    world = World()
    world.add(HalfSpace(), kind="static")
    box = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5))
    world.step(10)

    def push() -> None:
        box.apply_force((0.0, 0.0, -100.0 if world.step_count % 2 else -200.0))
        world.step()

    return [
        Row("a step of a box at rest", "us", least(world.step, 500), _step(*theirs(BOX))),
        Row("the same, pressed by another force in each step", "us", least(push, 300)),
    ]


def _of_a_pendulum() -> list[Row]:
    """Reading and driving a hinge, by its motor and by a torque."""
    world, _, hinge = pendulum()
    rows = [
        Row("hinge.motor_torque = ...", "us", least(lambda: setattr(hinge, "motor_torque", 0.3), 2000)),
        Row("hinge.angle", "us", least(lambda: hinge.angle, 2000)),
    ]

    def motor() -> None:
        hinge.motor_speed = -hinge.angle - 0.1 * hinge.speed
        world.step()

    module, model, data = theirs(ARM, '<actuator><motor joint="hinge"/></actuator>')

    if module:
        data.qvel[0] = 1.0

    def control() -> None:
        data.ctrl[0] = 0.1 * data.qvel[0] - data.qpos[0]
        module.mj_step(model, data)

    other = least(control, 300) if module else NONE
    rows.append(Row("control of a pendulum: angle, speed, motor, step", "us", least(motor, 300), other))
    free, arm, bearing = pendulum(0.0)

    arm.angular_velocity = (0.0, 1.0, 0.0)

    def torque() -> None:  # which keeps it swinging, so that it is another one in each step
        arm.apply_torque((0.0, 0.1 * bearing.speed - bearing.angle, 0.0))
        free.step()

    return [*rows, Row("the same by apply_torque", "us", least(torque, 300), other)]


def recorded(steps: int = 240) -> list[Row]:
    """What ``world.run`` costs beside as many steps in one call: it keeps a sample of each. Rounds of the two take turns."""
    ball, boxes = World(), World()
    ball.add(Sphere(0.5), position=(0, 0, 1e6))
    boxes.add(HalfSpace(), kind="static")
    boxes.add_many(Box((0.1, 0.1, 0.1)), [(k, 0, 0.1) for k in range(5)])
    rows = []
    for name, world in (("a free ball", ball), ("five boxes at rest", boxes)):
        stepped, run = float("inf"), float("inf")
        for _ in range(ROUNDS):
            stepped = min(stepped, least(lambda world=world: world.step(steps), 3))
            run = min(run, least(lambda world=world: world.run(steps * world.dt), 3))
        rows += [
            Row(f"world.step({steps}) of {name}, a step", "us", stepped / steps),
            Row(f"world.run of {name}, which keeps a sample of each, a step", "us", run / steps),
            Row(f"world.run beside world.step(n), {name}", "times", run / stepped),
        ]
    return rows + [
        Row("the first run of a fresh world, a ball, beside its first step(240)", "times", first(0, steps)),
        Row("the same where one step was taken before", "times", first(1, steps)),
    ]


def first(taken: int, steps: int) -> float:
    """What the first ``world.run`` of a world costs beside ``step(n)`` of one like it; ``taken``: steps before."""

    def spent(go: Callable[[Any], Any]) -> float:
        world = World()
        world.add(Sphere(0.5), position=(0, 0, 1e6), angular_velocity=(1, 2, 3))
        for _ in range(taken):
            world.step()
        begun = time.perf_counter()
        go(world)
        return time.perf_counter() - begun

    pairs = [(spent(lambda w: w.step(steps)), spent(lambda w: w.run(steps * w.dt))) for _ in range(20 * ROUNDS)]
    stepped, run = zip(*pairs[ROUNDS:], strict=True)  # the first ones import
    return min(run) / min(stepped)


def _step(module: Any, model: Any, data: Any) -> float:
    return least(lambda: module.mj_step(model, data), 2000) if module else NONE


def many() -> list[Row]:
    """Microseconds of a body and a step, many worlds at once on all cores: the processor time of all threads by their number. On
    idle cores that is what the clock says; on busy ones the clock says how much others left."""
    scenes = {
        "free ball": (load("tumbling_box")(), BALL),
        "box on a floor": (load("stack")(boxes=1), BOX),
        "double pendulum": (load("double_pendulum")(), ARM.replace("</body>", SECOND + "</body>")),
        "stack of ten": (load("stack")(boxes=10), '<geom type="plane" size="9 9 1"/>' + "".join(
            f'<body pos="0 0 {0.5 + k}"><freejoint/><geom type="box" size="0.5 0.5 0.5"/></body>' for k in range(10))),
    }  # fmt: skip
    rows = []
    for name, (scene, xml) in scenes.items():
        scene.dt = 1 / 240
        worlds = Worlds(scene, MEMBERS)
        moving = sum(body.kind == "dynamic" for body in worlds[0].bodies)
        worlds.step(2)
        ours = least(lambda worlds=worlds: worlds.step(STEPS), 1, time.process_time)
        ours /= MEMBERS * STEPS * moving * worlds.threads
        rows.append(Row(f"{MEMBERS} worlds: {name}", "us", ours, _rollout(xml, moving)))
    return rows


def _rollout(xml: str, moving: int) -> float:
    module, model, data = theirs(xml)
    if module is None or importlib.util.find_spec("mujoco.rollout") is None:
        return NONE
    import numpy as np
    from mujoco import rollout

    kind = module.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(module.mj_stateSize(model, kind))
    module.mj_getState(model, data, state, kind)
    start, threads = np.tile(state, (MEMBERS, 1)), os.cpu_count() or 1
    datas = [module.MjData(model) for _ in range(threads)]
    with rollout.Rollout(nthread=threads) as roll:
        spent = least(lambda: roll.rollout([model] * MEMBERS, datas, start, nstep=STEPS), 1, time.process_time)
    return spent / (MEMBERS * STEPS * moving * threads)


START = """
from tumble.sim import World
from tumble.collision import Box, HalfSpace
world = World()
world.add(HalfSpace(), kind="static")
world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5))
world.step()
"""
THEIRS = f"""
import mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody>{BOX.replace('"', "|")}</worldbody></mujoco>'.replace("|", '"'))
mujoco.mj_step(model, mujoco.MjData(model))
"""


def start(compiling: bool = False) -> list[Row]:
    """Seconds of processes: imports, the first step, a verb; ``compiling``: also the first use on a machine."""
    from tumble.scenarios.runs.scene_run import warm

    warm()
    there = mujoco() is not None
    rows = [
        Row("python -c pass", "s", _seconds("pass")),
        Row("from tumble import sim", "s", _seconds("from tumble import sim"), _seconds("import mujoco") if there else NONE),
        Row("import of World", "s", _seconds("from tumble.sim import World")),
        Row("first step of a box on a floor, from the start", "s", _seconds(START), _seconds(THEIRS) if there else NONE),
    ]
    with tempfile.TemporaryDirectory() as folder:
        verb = ["-m", "tumble.scenarios.cli", "run", "bouncing_ball", "--out", folder]
        rows.append(Row("tumble run bouncing_ball", "s", min(_process(verb) for _ in range(2))))
        if compiling:
            home = {"TUMBLE_CACHE_DIR": str(Path(folder) / "cache")}
            rows.append(Row("first step where nothing is compiled", "s", _process(["-c", START], **home)))
            rows.append(Row("all kernels compiled, after that", "s", _process(["-m", "tumble.scenarios.warm"], **home)))
    return rows


def _seconds(code: str) -> float:
    return min(_process(["-c", code]) for _ in range(3))


def _process(arguments: list[str], **environment: str) -> float:
    paths = os.pathsep.join(filter(None, (import_path(), os.environ.get("PYTHONPATH"))))
    kept = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": ""}  # bytecode is kept, as it is unless someone says otherwise
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env={**os.environ, **kept, **environment})
    return time.perf_counter() - begun


def table(rows: list[Row]) -> str:
    """A line each: what, ours, MuJoCo's."""
    shown = lambda x: "" if x != x else f"{x:.3g}"  # noqa: E731
    width = max(len(row.what) for row in rows)
    lines = [f"{'':{width}}  {'tumble':>8}  {'MuJoCo':>8}"]
    return "\n".join(lines + [f"{row.what:{width}}  {shown(row.ours):>8}  {shown(row.theirs):>8}  {row.unit}" for row in rows])
