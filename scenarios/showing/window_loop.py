"""The loop behind the window: steps the world, or moves through a recording, and carries out what the user wants.

    from tumble.scenarios.showing.window_loop import view
    view(world)

The window only draws and asks; what is stepped and changed stands on a stage (stages.py).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import check_number
from tumble.scenarios.registry import Scenario
from tumble.scenarios.showing.stages import RunStage, WorldStage, stage_of
from tumble.scenarios.showing.stepping_thread import Backstage
from tumble.sim.errors import InputError, RecordingError, SimulationError
from tumble.sim.recording.run import Run
from tumble.sim.scene.scene import Scene
from tumble.sim.world.world import World

if TYPE_CHECKING:
    from tumble.render.frames.frame import Frame
    from tumble.render.windows.window import Command, Window

FRAMES, LEAST_FRAMES = 60.0, 30.0  # pictures a second: at most, and where fewer come they are drawn plainly
SLOW = 24  # pictures by whose median it is judged
PATIENCE = 0.02  # s of stepping between two pictures, at least, where the world is slower than it should be
LAG = 0.25  # s of the clock that a world may have to catch up with
NOTE_SECONDS = 4.0
TRIAL_SECONDS, TRIAL_GAP, TRIAL_CLOCK = 2.0, 1 / 30, 0.5  # [s] of the scene; between two looks at it; of the clock, at most
SPEEDS = 1 / 1024, 1024.0


class Loop:
    """Stage and window together. :meth:`turn` is one turn of it; ``paused``, ``speed`` and ``note`` tell how it stands.

    A world is stepped in a thread of its own while the picture is drawn: see :mod:`tumble.scenarios.showing.stepping_thread`.
    """

    def __init__(self, stage: WorldStage | RunStage, window: Window, folder: str | Path = ".", speed: float = 1.0):
        from tumble.render.windows.studio import Studio

        self.stage, self.window, self.studio = stage, window, Studio(folder, stage.title)
        self.speed, self.paused, self.open = speed, False, True
        self.may_be_plain = True  # where pictures take too long
        self.note, self._note_until = "", 0.0
        self._clock = time.perf_counter()
        self._spent = 0.0  # on the last picture [s]
        self._drawn: deque = deque(maxlen=SLOW)  # the same of the last ones
        self._pace: deque = deque(maxlen=120)  # (clock, time) of the last turns, to tell the speed that is reached
        self._asked: list[Command] = []  # not carried out yet
        self._frame: Frame | None = None  # the last one, and its text
        self._lines: tuple[str, ...] = ()
        self._time = stage.time  # of the last frame
        self._backstage = Backstage(stage)
        window.live, window.span, window.sliders = stage.live, stage.span, stage.sliders if stage.live else []
        self._prepare(tuple(window.overlays))

    def run(self) -> None:
        """Until the user quits."""
        try:
            while self.open:
                begun = time.perf_counter()
                self.turn()
                time.sleep(max(1.0 / FRAMES - (time.perf_counter() - begun), 0.0))
        finally:
            self.close()

    def close(self) -> None:
        """End the step that is being taken, and the film."""
        self._backstage.close()
        self.stage.close()
        self.studio.end(None if not self.open else KeyboardInterrupt())

    def turn(self, elapsed: float | None = None) -> None:
        """Carry out commands, advance by the time that has passed, show. By ``elapsed`` [s] it is advanced before it is shown."""
        asked = self.window.poll()
        self.open = self.open and all(command.name != "quit" for command in asked)
        self._asked += asked
        if self._mine(math.inf if elapsed is not None or self._frame is None else 1.0 / LEAST_FRAMES):
            self._carry_out()
            self._advance(elapsed)
        begun = time.perf_counter()
        if begun > self._note_until:
            self.note = ""
        self._frame.lines = (*self._lines, self._status())
        self.window.show(self._frame, self.note)
        self._spent = time.perf_counter() - begun
        self._keep_up()
        if self.studio.filming:
            self.say(self.studio.shoot(self.window.pixels()))

    def _mine(self, patience: float) -> bool:
        """The world is not being stepped: it can be asked and changed. Waits ``patience`` [s] for that."""
        try:
            return self._backstage.over(patience)
        except SimulationError as error:
            self._fail(error)
        return True

    def _carry_out(self) -> None:
        asked, self._asked = self._asked, []
        for command in asked:
            self._backstage.frame = None  # it may be another one now
            self.do(command)

    def _advance(self, elapsed: float | None) -> None:
        """Take a frame, and have the steps taken until the next one."""
        now = time.perf_counter()
        passed = min(now - self._clock, LAG) if elapsed is None else elapsed
        before, self._clock = self._clock, now
        filming, stage = self.studio.filming, self.stage
        if filming:
            passed = 1.0 / self.studio.rate  # the film runs evenly, however long each picture takes
        beside = elapsed is None and not filming and not stage.alone
        if not self.paused and not beside:
            until = now + (self._patience() if elapsed is None and not filming else math.inf)
            try:
                stage.advance(self.speed * passed, lambda: time.perf_counter() > until)
            except SimulationError as error:
                self._fail(error)
            if stage.span and stage.over:
                self.paused = True
            self._backstage.frame = None
        self._frame, self._time = self._backstage.frame or stage.frame(), stage.time
        self._lines = self._frame.lines
        if not self.paused:
            self._pace.append((before if beside else now, self._time))  # the steps of this frame were due then
        if not self.paused and beside:
            self._backstage.begin(self.speed * passed)

    def _fail(self, error: SimulationError) -> None:
        self.paused = True
        self.say(str(error))

    def do(self, command: Command) -> None:
        """Carry out a command of the window."""
        name, value, stage = command.name, command.value, self.stage
        if name == "quit":
            self.open = False
        elif name == "pause":
            self.paused = not self.paused
            if not self.paused and stage.span and stage.over:
                stage.reset()
        elif name == "step":
            self.paused = True
            if stage.live and value < 0:
                self.say("a world goes forward only: record it to step back")
            else:
                stage.step(value)
        elif name == "seek":
            stage.seek(value)
        elif name == "speed":
            self.speed = float(np.clip(self.speed * value, *SPEEDS)) if value else 1.0
        elif name == "reset":
            stage.reset()
        elif name == "overlays":
            self._prepare(value)
        elif name == "picture":
            self.say(self.studio.picture(self.window.pixels()))
        elif name == "film":
            self.say(self.studio.end() if self.studio.filming else self.studio.begin(self.window.size))
        elif name == "say":
            self.say(value)
        elif name == "set":
            self._set(*value)
        elif name in ("drop", "throw", "kind") and not stage.live:
            self.say("a recording can not be changed")
        elif name in ("drop", "throw"):
            self.say(getattr(stage, name)(value))
        elif name == "kind":
            self.say(stage.next_kind())
        else:  # grab, drag, release
            getattr(stage, name)(*(() if value is None else (value,)))
        self._pace.clear()

    def _set(self, name: str, value: float) -> None:
        """Start anew with another value of a parameter, or say why not."""
        try:
            self.stage.set(name, value)
            self.say(f"{name.replace('_', ' ')} {value:.4g}: from the start")
        except (InputError, SimulationError) as error:
            self.say(str(error))
        self.window.sliders = self.stage.sliders

    def say(self, note: str) -> None:
        """Show a message for a while."""
        if note:
            self.note, self._note_until = note, time.perf_counter() + NOTE_SECONDS

    @property
    def factor(self) -> float | None:
        """Seconds of the scene per second of the clock, over the last turns; None: not known yet."""
        if len(self._pace) < 2 or self._pace[-1][0] - self._pace[0][0] < 0.2:
            return None
        return (self._pace[-1][1] - self._pace[0][1]) / (self._pace[-1][0] - self._pace[0][0])

    def _keep_up(self) -> None:
        """Draw plainly what can not be drawn well thirty times a second."""
        self._drawn.append(self._spent)
        slow = sorted(self._drawn)[len(self._drawn) // 2] > 1 / LEAST_FRAMES
        if slow and self.may_be_plain and self.window.preset == "default" and len(self._drawn) == SLOW:
            self.window.choose("fast")
            self.say("drawn with preset fast, to keep up")

    def _patience(self) -> float:
        """Stepping gets at least as much time as drawing, where both have one thread."""
        return max(PATIENCE, self._spent)

    def _status(self) -> str:
        if self.paused:
            return "paused"
        while self._pace and self._pace[-1][0] - self._pace[0][0] > 1.0:
            self._pace.popleft()
        wish = f"speed {self.speed:.3g}"
        reached = self.factor
        return wish if reached is None or self.studio.filming else f"{wish}, reached {reached:.2f}"

    def _prepare(self, overlays: tuple[str, ...]) -> None:
        try:
            self.stage.prepare(overlays)
        except RecordingError as error:
            from tumble.render.frames.overlay import OF_CONTACTS

            self.say(str(error))
            self.window.overlays[:] = [name for name in overlays if name not in (*OF_CONTACTS, "impacts", "sleeping")]
            self.stage.prepare(tuple(self.window.overlays))


def trial(scene: Scene) -> list[Any]:
    """Frames of what will happen in a scene at first: so the camera can be placed where it will be seen."""
    from tumble.render.frames.frame import frame_of

    world, until = scene.build(), time.perf_counter() + TRIAL_CLOCK
    frames = [frame_of(world, contacts=False)]
    with contextlib.suppress(SimulationError):  # said again when it happens
        while world.time < min(TRIAL_SECONDS, scene.duration) and time.perf_counter() < until:
            world.step(max(round(TRIAL_GAP / world.dt), 1))
            frames.append(frame_of(world, frames[0].cast, contacts=False))
    return frames


def view(
    source: World | Scene | Run | Scenario,
    size: tuple[int, int] = (1280, 720),
    preset: str = "default",
    overlays: tuple[str, ...] | None = None,
    camera: Any = None,
    paused: bool = False,
    speed: float = 1.0,
    start: float | None = None,
    folder: str | Path = ".",
    values: dict[str, Any] | None = None,
    change: Callable[[Scene], None] | None = None,
) -> World | Run:
    """Open a window on a world, a scene, a scenario or a recorded run, until it is closed; H shows the keys. Returns it.

    Parameters
    ----------
    source : a World (which is stepped), a Scene (which is built), a Run, or a scenario, whose numbers can be pulled:
        ``values`` of its parameters, and what is changed in its scenes.
    size, preset, overlays, camera : as for ``render.picture``.
    paused : begin with a pause. speed : seconds of the scene per second of the clock.
    start : of a run, where to begin [s].
    folder : where pictures and films go.

    Raises
    ------
    InputError : odd input, named. RenderError : no window can be opened.
    """
    from tumble.render.cameras.framing import framed
    from tumble.render.films.video import camera_for, check_size
    from tumble.render.frames import overlay
    from tumble.render.look import preset as check_preset
    from tumble.render.windows.window import Window

    check_preset(preset)
    size, speed = check_size(size), check_number("speed", speed, above=0)
    stage = stage_of(source, values, change)
    wanted = overlay.check(overlays, stage.frames.cast)
    if start is not None and stage.span:
        stage.seek(check_number("start", start))
    seen = stage.frames if isinstance(stage, RunStage) else stage.frame()
    camera = getattr(stage.frames, "camera", None) if camera is None else camera
    if camera is None and isinstance(source, Scene | Scenario):
        camera = framed(trial(source if isinstance(source, Scene) else stage.scene()), size[0] / size[1])
    camera = camera_for(seen, size, camera)
    with Window(size, preset, f"tumble: {(stage.title or 'world').replace('_', ' ')}   (H: keys)", camera, wanted) as window:
        loop = Loop(stage, window, folder, speed)
        loop.paused = paused
        loop.run()
    return stage.world if isinstance(stage, WorldStage) else stage.run
