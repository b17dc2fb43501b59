"""Make docs/gallery.md and its pictures anew: ``python tools/gallery.py [NAME...]``: a still of every scenario and overlay,
the film "heap", and films of the scenes on ground and of machines ("films", or "NAME.webp")."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from tumble.render import OVERLAYS, Camera, film, still
from tumble.render.films.video import camera_for
from tumble.render.films.writers import encoded
from tumble.render.frames.recorded import RunFrames
from tumble.scenarios.registry import catalog, load
from tumble.sim import Recorder, Run

DOCS = Path(__file__).resolve().parent.parent / "docs"
FOLDER = "gallery"
SIZE = (640, 360)
SECONDS = 1.0
# when a scene is worth a look [s], where a second is not
WHEN = {
    "bouncing_ball": 0.9, "bouncing_balls": 1.2, "card_house": 0.1, "arch": 0.1, "kapla": 0.1, "resting_cuboid": 0.2,
    "stack": 0.2, "chain": 0.8, "dominoes": 0.45, "double_pendulum": 1.1, "dropped_cuboids": 0.55, "dzhanibekov": 5.0,
    "newtons_cradle": 0.35, "pendulum": 0.6, "pile": 1.6, "pyramid": 0.2, "two_cuboids": 1.0, "balls_666": 0.5,
    "tumbling_boxes": 0.5, "rolling_balls": 0.8, "billiard_break": 0.4, "coins": 0.7,
    "falling_chimney": 1.6, "incline": 0.8, "jacks": 0.9, "part_feeder": 0.8, "rocking_block": 0.6, "spool": 0.6,
    "superball": 1.3, "tippe_top": 1.6, "turntable_ball": 1.8, "wall": 1.2, "kepler_orbit": 1.1,
    "ball_on_waves": 3.6, "bowling": 2.85, "clock_escapement": 0.3, "pinball": 2.06, "marble_run": 2.6, "rock_slide": 2.6,
}  # fmt: skip
# seen as they then are, from near; the others from where their films are
CLOSE = {"dominoes", "incline", "jacks", "newtons_cradle", "part_feeder", "sliding_cuboid", "spool", "two_cuboids", "wall"}
FLYING = {"superball", "bouncing_ball", "bouncing_balls"}  # the way gone tells more than the ball
STANDING = {*FLYING, "double_pendulum", "kepler_orbit"}  # in films the camera goes with them: all of the way is not seen
QUICK = {"kepler_orbit": {"period": 1.2}}  # so that a trail, of a second, goes round
# from near, so that contents and overlays are seen
NEAR = {
    "pile": Camera((0.75, -1.2, 2.1), (0.0, 0.02, 0.28)),
    "bouncing_balls": Camera((0.8, -9.0, 3.4), (0.0, 0.0, 1.9)),
    "dropped_cuboids": Camera((1.2, -2.2, 1.1), (0.0, -0.05, 0.15)),
    "two_cuboids": Camera((1.1, -2.2, 1.2), (0.2, 0.1, 0.22)),
    "dzhanibekov": Camera((3.3, -3.3, 2.2), (0.0, 0.0, 0.25)),
    "pyramid": Camera((0.7, -2.2, 0.9), (0.0, 0.0, 0.42)),
    "ball_on_waves": Camera((0.6, -6.0, 2.3), (-1.2, 0.0, 0.1)),
    "clock_escapement": Camera((0.13, -0.46, 0.0), (0.0, 0.0, -0.05)),
    "bowling": Camera((16.6, -1.25, 1.25), (18.8, 0.0, 0.1)),
    "marble_run": Camera((1.0, -1.15, 1.25), (0.0, -0.02, 0.62)),
    "rock_slide": Camera((7.5, -5.5, 4.0), (-0.8, 0.0, 0.9)),
}
TRACKED = {"bowling", "rock_slide"}  # in motion, by a camera that goes along
# scenes that want to be seen in motion, and from when to when [s]
FILMED = {
    "ball_on_waves": (0.0, 3.7), "marble_run": (0.0, 6.0), "rock_slide": (0.0, 5.0), "bowling": (0.0, 4.0), "pinball": (0.0, 6.0),
    "rover": (0.0, 6.0), "quadruped_stands": (0.0, 2.0), "robot_arm": (0.0, 4.0), "clock_escapement": (0.0, 5.0),
    "gear_train": (0.0, 4.0), "governor": (0.0, 6.0), "stewart_platform": (0.0, 3.0),
}  # fmt: skip
# an overlay, what it shows, in which scene, when
SHOWN = {
    "text": ("title, time, energy, and the legend", "dropped_cuboids", 0.5),
    "joints": ("anchors of joints", "four_bar", 0.4),
    "contacts": ("contact points and forces: the larger, the longer and redder", "pyramid", 0.2),
    "normals": ("contact normals, from the first body to the second", "dropped_cuboids", 0.9),
    "manifolds": ("outlines of contact manifolds", "pyramid", 0.2),
    "impacts": ("impulses of the last 0.3 s", "dropped_cuboids", 0.55),
    "boxes": ("bounding boxes", "dropped_cuboids", 0.55),
    "pairs": ("candidate pairs of the broad phase", "dropped_cuboids", 0.7),
    "axes": ("centre of mass and principal axes", "dzhanibekov", 1.0),
    "trails": ("where the centres of mass were", "bouncing_balls", 1.2),
    "velocity": ("where bodies are in 0.2 s", "dropped_cuboids", 0.3),
    "angular_velocity": ("angular velocity", "two_cuboids", 1.0),
    "angular_momentum": ("angular momentum", "two_cuboids", 1.0),
    "polhode": ("angular velocity, its way in the body and in space", "dzhanibekov", 9.0),
    "names": ("names", "dropped_cuboids", 1.2),
    "sleeping": ("bodies that sleep are grey", "stack", 0.2),
    "energy": ("energy by part, and where it went", "dropped_cuboids", 0.8),
    "momentum": ("momentum and angular momentum", "two_cuboids", 0.9),
    "ledger": ("the books as two bars of one length", "dropped_cuboids", 0.8),
}


def main(wanted: list[str]) -> int:
    (DOCS / FOLDER).mkdir(exist_ok=True)
    for name in catalog():
        if not wanted or name in wanted:
            seconds = WHEN.get(name, SECONDS)
            run = run_of(name, seconds)
            frames = RunFrames(run)
            trails = name in FLYING or not frames.cast.has_floor  # in free space nothing else shows the way gone
            camera = (
                camera_for(frames.at(seconds), SIZE) if name in CLOSE else NEAR.get(name, "orbit:0" if name in STANDING else None)
            )
            take(run, name, seconds, ("joints", "trails") if trails else ("joints",), camera)
    for overlay, (_, name, seconds) in SHOWN.items():
        if not wanted or overlay in wanted:
            draw(overlay, name, seconds)
    if not wanted or "window" in wanted:
        window()
    for name, times in FILMED.items():
        if not wanted or "films" in wanted or f"{name}.webp" in wanted:
            moving(name, *times)
    if not wanted or "heap" in wanted:
        heap()
    page = DOCS / "gallery.md"
    page.write_text(text(), encoding="utf-8")
    print(page)
    return 0


def run_of(name: str, seconds: float) -> Run:
    return load(name)(**QUICK.get(name, {})).build().run(seconds, [Recorder(contacts=True, impacts=True)])


def draw(overlay: str, name: str, seconds: float) -> None:
    """An overlay, with the legend; sleeping bodies in a world whose stack fell asleep."""
    if overlay == "sleeping":
        scene = load(name)()
        scene.sleep_after = 0.1
        world = scene.build()
        world.step(round(seconds / world.dt))
        take(world, f"overlay_{overlay}", None, (overlay,))
    else:
        take(run_of(name, seconds), f"overlay_{overlay}", seconds, ("text", overlay), NEAR.get(name))


def take(source: object, name: str, time: float | None, overlays: tuple[str, ...], camera: Camera | str | None = None) -> None:
    print(still(source, DOCS / FOLDER / f"{name}.jpg", SIZE, time, "best", camera, overlays))


def window() -> None:
    """The window with a body pulled out of a wall."""
    os.environ.setdefault("SDL_VIDEODRIVER", "offscreen")
    from tumble.render.cameras.pick import pick
    from tumble.render.windows.window import Window
    from tumble.scenarios.showing.stages import stage_of
    from tumble.scenarios.showing.window_loop import Loop

    stage = stage_of(load("pyramid")())
    size, camera = (1280, 720), Camera((0.9, -2.6, 1.0), (0.15, 0.0, 0.5))
    with Window(size, "default", "tumble", camera, ("text", "contacts", "energy")) as shown:
        loop = Loop(stage, shown)
        loop.may_be_plain = False  # as on a free machine
        loop.turn(0.2)
        frame = shown.frame
        row = frame.cast.names.index("box_4_2")
        at = shown.camera().project(frame.centers_of_mass()[row], size)[0][0]
        hit = pick(frame, shown.camera(), at, size)
        shown.picked = hit.body
        stage.grab(hit)
        for k in range(1, 25):
            stage.drag(hit.point + np.array([0.45, -0.25, 0.3]) * min(k / 20, 1))
            loop._pace.clear()  # made as fast as it goes, not in real time
            loop.turn(1 / 60)
        path = DOCS / "images" / "window.png"
        path.write_bytes(encoded(shown.pixels(), path.name))
        print(path)


def heap() -> None:
    """A thousand hulls are poured, and come to rest: what becomes of their energy."""
    scene = load("pile")(count=1000)
    scene.dt = 1 / 240
    run = scene.build().run(4.0, [Recorder()])
    camera = Camera((1.7, -3.3, 4.4), (0.0, 0.0, 0.7), fov_degrees=40)
    look = {"size": (640, 480), "fps": 12, "quality": 24, "overlays": (), "title": False, "graph": "energy"}
    print(film(run, DOCS / "images" / "heap.webp", camera=camera, **look))


def moving(name: str, start: float, stop: float) -> None:
    """A scene in motion, as fast as it is."""
    path = DOCS / FOLDER / f"{name}.webp"
    look = {"size": (320, 240), "fps": 12, "quality": 32, "overlays": (), "title": False, "bar": False}
    camera = None if name in TRACKED else NEAR.get(name)
    print(film(run_of(name, stop), path, camera=camera, start=start, stop=stop, **look))


def text() -> str:
    """The page."""
    lines = [
        "# Gallery",
        "",
        "One picture of each scene of the catalog, and one of each overlay. `python tools/gallery.py` makes them anew.",
        "",
        "## Scenarios",
        "",
        "A scenario is a scene with parameters. `tumble show NAME` says what it is about, `tumble view NAME` shows it in motion.",
        "",
    ]
    scenes = [(name, f"`{name}`: {scenario.summary}", f"{name}.jpg") for name, scenario in catalog().items()]
    lines += table(scenes)
    lines += [
        "",
        "## Ground and machines in motion",
        "",
        "As fast as they are. What each is held to: [ground](ground.md#scenes) and",
    ]
    lines += ["`tests/physics/test_scenes.py`.", ""]
    lines += table([(name, f"`{name}`", f"{name}.webp") for name in FILMED])
    lines += ["", "## A heap and its energy", "", "![A thousand hulls fall into a bin and lie still](images/heap.webp)", ""]
    lines += [
        "`pile` with a thousand hulls, at 240 steps a second and awake to the end. The graph adds up what becomes of their",
        "energy: height, motion, and what friction and impacts take. Its top, the black line, stays level, and from the second",
        "second on all lines do: the heap is at rest. `python tools/gallery.py heap` makes this film in a minute.",
    ]
    lines += ["", "## Overlays", "", "Named in `film(run, path, overlays=(...))`, with keys in [the window](window.md).", ""]
    lines += table([(name, f"`{name}`: {SHOWN[name][0]}", f"overlay_{name}.jpg") for name in OVERLAYS])
    return "\n".join(lines) + "\n"


def table(entries: list[tuple[str, str, str]]) -> list[str]:
    """Two in a row."""
    lines = ["| | |", "|---|---|"]
    entries = entries + [("", "", "")] * (len(entries) % 2)
    for pair in zip(entries[::2], entries[1::2], strict=True):
        lines.append("| " + " | ".join(f"![{name}]({FOLDER}/{file}) {says}" if name else "" for name, says, file in pair) + " |")
    return lines


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
