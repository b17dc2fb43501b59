"""The window: shows frames, moves the camera, and hands what else the user wants on as commands. It steps nothing.

The loop behind it is ``scenarios/showing/window_loop.py``:

    while not done:
        for command in window.poll(): ...carry it out...
        ...step...
        window.show(frame, span, note)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tumble.collision.errors import need
from tumble.render.camera import Camera
from tumble.render.cameras.pick import Hit, pick, ray
from tumble.render.cameras.rig import Rig
from tumble.render.errors import RenderError
from tumble.render.frames.frame import Frame
from tumble.render.frames.overlay import OVERLAYS
from tumble.render.opengl import context
from tumble.render.text import top_panel
from tumble.render.windows import hud, sliders

STILL = 3  # pixels that a press may move and still be a click
LEAST = (160, 120)


class Command(NamedTuple):
    """What the user wants of the loop.

    The names, and what their values are:

    pause, reset, picture, film, kind, release, quit : none.
    step : +1 or -1.
    seek : a time [s].
    speed : a factor; 0 is real time.
    grab : a Hit; drag : a point (3,) [m] of the world.
    drop : a point (3,) and a size [m]; throw : two points, from the first to the second, and a size.
    set : the name of a parameter and its value.
    overlays : their names; say : a text to show.
    """

    name: str
    value: Any = None


class Window:
    """A window of ``size`` (width, height). ``overlays``: those shown at first.

    Attributes
    ----------
    overlays, help, picked, rig : what is shown, whether the keys are, the row of the picked body, and the camera.
    sliders : of parameters; shown if ``pulling``.
    live : whether bodies can be dragged; ``span`` [s] of a recording, that of its time line, or None.
    """

    def __init__(self, size: tuple[int, int], preset: str, title: str, camera: Camera, overlays: Sequence[str]):
        need("view")
        import pygame

        self._pygame, self.preset = pygame, preset
        self.overlays, self.help, self.picked = list(overlays), False, None
        self.rig, self._home = Rig.of(camera), camera
        self.live, self.span = True, None
        self.sliders: list[sliders.Slider] = []
        self.pulling = False
        self._slider: int | None = None  # the one that is pulled
        self.frame: Frame | None = None
        self._mode: str | None = None  # what a pressed button does: orbit, pan, seek, grab, drag
        self._hit: Hit | None = None
        self._at = self._pressed = (0.0, 0.0)
        self._gl: Any = None
        self._open(size, title)

    def _open(self, size: tuple[int, int], title: str) -> None:
        pygame = self._pygame
        driver = context.screen()
        pygame.font.init()  # not pygame.init(), which wakes the sound card
        wish = context.choice()
        why = f"TUMBLE_RENDERER is {wish}"
        if wish == "auto":
            try:
                self._gl = context.windowed(size)
                self._screen = self._gl.context.detect_framebuffer()
            except Exception as error:  # as many ways to fail as there are drivers: a plain window will do
                why, self._gl = " ".join(str(error).split()), None
        if self._gl is None:
            try:
                pygame.display.set_mode(size, pygame.RESIZABLE)
            except pygame.error as error:
                pygame.display.quit()
                raise RenderError(f"no window can be opened: {error}") from error
            if wish == "auto" and driver != "dummy":
                print(f"Note: the window is drawn without OpenGL of its own ({why})", file=sys.stderr)
        pygame.display.set_caption(title)
        pygame.key.set_repeat(350, 60)
        self._resize(size)

    def _resize(self, size: tuple[int, int]) -> None:
        self.size = (max(int(size[0]), LEAST[0]), max(int(size[1]), LEAST[1]))
        if getattr(self, "renderer", None) is not None:
            self.renderer.close()
        if self._gl is None:
            self.renderer = context.open_renderer(self.size, self.preset)
        else:
            from tumble.render.opengl.renderer import Renderer

            self._screen = self._gl.context.detect_framebuffer()
            self._screen.viewport = (0, 0, *self.size)
            self.renderer = Renderer(self.size, self.preset, self._gl)

    def choose(self, preset: str) -> None:
        """Go on with another preset."""
        self.preset = preset
        self._resize(self.size)

    @property
    def backend(self) -> str:
        return self.renderer.backend

    def camera(self) -> Camera:
        return self.rig.camera()

    def show(self, frame: Frame, note: str = "") -> None:
        """Draw a frame, with a message."""
        self.frame = frame
        self.rig.track(frame)
        if self.picked is not None and self.picked >= len(frame.cast):
            self.picked = None
        frame.picked = self.picked
        panels = []
        if self.picked is not None:
            scales = sum(name in self.overlays for name in ("contacts", "impacts")) if "text" in self.overlays else 0
            panels.append(hud.state_panel(frame, self.picked, self.size, scales))
        if self.span is not None:
            panels.append(hud.time_line(self.size, (frame.time - self.span[0]) / max(self.span[1] - self.span[0], 1e-300)))
        if note:
            panels.append(top_panel(note, self.size, 20))
        if self.pulling and self.sliders:
            panels.append(sliders.panel(self.sliders, self.size))
        if self.help:
            panels.append(hud.help_panel(self.size))
        camera, overlays = self.camera(), tuple(self.overlays)
        if self._gl is None:
            pixels = self.renderer.draw(frame, camera, overlays, panels)
            surface = self._pygame.image.frombuffer(pixels.tobytes(), self.size, "RGBA")
            self._pygame.display.get_surface().blit(surface, (0, 0))
            self._shown = pixels
        else:
            self.renderer.paint(frame, camera, overlays, panels)
            self.renderer.show(self._screen)
        self._pygame.display.flip()

    def pixels(self) -> np.ndarray:
        """(h, w, 4) uint8: what is shown."""
        return self._shown if self._gl is None else self.renderer.read()

    def close(self) -> None:
        self.renderer.close()
        self._pygame.display.quit()
        if self._gl is not None:
            context.forget()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ input

    def poll(self) -> list[Command]:
        """What the user wanted since this was asked last. Moves the camera and toggles overlays by itself."""
        pygame, out = self._pygame, []
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                out.append(Command("quit"))
            elif event.type == pygame.VIDEORESIZE:
                self._resize(event.size)
            elif event.type == pygame.KEYDOWN:
                out += self._key(event)
            elif event.type == pygame.MOUSEBUTTONDOWN and event.button in (1, 2, 3):
                out += self._press(event)
            elif event.type == pygame.MOUSEMOTION:
                out += self._move(event)
            elif event.type == pygame.MOUSEBUTTONUP and event.button in (1, 2, 3):
                out += self._lift()
            elif event.type == pygame.MOUSEWHEEL:
                self.rig.zoom(event.y)
        return out

    def _key(self, event: Any) -> list[Command]:
        pygame, key = self._pygame, event.key
        commands = {
            (pygame.K_SPACE,): Command("pause"),
            (pygame.K_PERIOD, pygame.K_RIGHT): Command("step", 1),
            (pygame.K_COMMA, pygame.K_LEFT): Command("step", -1),
            (pygame.K_LEFTBRACKET,): Command("speed", 0.5),
            (pygame.K_RIGHTBRACKET,): Command("speed", 2.0),
            (pygame.K_BACKSLASH,): Command("speed", 0.0),
            (pygame.K_r,): Command("reset"),
            (pygame.K_TAB,): Command("kind"),
            (pygame.K_p,): Command("picture"),
            (pygame.K_v,): Command("film"),
            (pygame.K_q, pygame.K_ESCAPE): Command("quit"),
        }
        if found := next((command for keys, command in commands.items() if key in keys), None):
            return [found]
        if key in (pygame.K_HOME, pygame.K_END) and self.span is not None:
            return [Command("seek", self.span[key == pygame.K_END])]
        if key == pygame.K_h:
            self.help = not self.help
        elif key == pygame.K_c:
            self.rig = Rig.of(self._home)
        elif key == pygame.K_f and self.frame is not None:
            self.rig.chase(None if self.rig.follow is not None else self.picked, self.frame)
        elif key == pygame.K_b and self.frame is not None:
            return [Command("drop", self._drop_at())]
        elif key == pygame.K_o and self.frame is not None:
            return [Command("throw", self._throw())]
        elif key == pygame.K_s:
            self.pulling = not self.pulling
            if self.pulling and not self.sliders:
                return [Command("say", "there are no parameters to pull: only scenarios and scene files declare them")]
        elif pygame.key.name(key) in hud.KEYS:
            return [self._toggle(hud.KEYS[pygame.key.name(key)])]
        return []

    def _toggle(self, name: str) -> Command:
        (self.overlays.remove if name in self.overlays else self.overlays.append)(name)
        self.overlays.sort(key=OVERLAYS.index)
        return Command("overlays", tuple(self.overlays))

    def _press(self, event: Any) -> list[Command]:
        self._at = self._pressed = event.pos
        shift = bool(self._pygame.key.get_mods() & self._pygame.KMOD_SHIFT)
        if event.button != 1 or shift:
            self._mode = "orbit" if event.button == 2 else "pan"
            return []
        if self.span is not None and hud.TimeLine.of(self.size).holds(event.pos):
            self._mode = "seek"
            return [self._seek(event.pos)]
        row = sliders.Sheet.of(self.size, len(self.sliders)).at(event.pos, len(self.sliders)) if self.pulling else None
        if row is not None:
            self._mode, self._slider = "pull", row
            self._pull(event.pos)
            return []
        self._mode, self._hit = "orbit", None
        if self.frame is not None:
            self._hit = pick(self.frame, self.camera(), self._middle(event.pos), self.size)
            if self._hit is not None and np.isfinite(self.frame.balls()[1][self._hit.body]):
                self.picked = self._hit.body
                if self.live and self.frame.cast.dynamic[self.picked]:
                    self._mode = "grab"
        return []

    def _move(self, event: Any) -> list[Command]:
        dx, dy = event.pos[0] - self._at[0], event.pos[1] - self._at[1]
        self._at, out = event.pos, []
        if self._mode == "grab" and np.hypot(*np.subtract(event.pos, self._pressed)) > STILL:
            self._mode = "drag"
            out.append(Command("grab", self._hit))
        if self._mode == "orbit":
            self.rig.orbit(dx, dy, self.size)
        elif self._mode == "pan":
            self.rig.pan(dx, dy, self.size)
        elif self._mode == "seek":
            out.append(self._seek(event.pos))
        elif self._mode == "pull":
            self._pull(event.pos)
        elif self._mode == "drag":
            out.append(Command("drag", self._beside(event.pos)))
        return out

    def _lift(self) -> list[Command]:
        out = [Command("release")] if self._mode == "drag" else []
        if self._mode == "pull":
            slider = self.sliders[self._slider]
            out.append(Command("set", (slider.name, slider.value)))
        if self._mode == "orbit" and np.hypot(*np.subtract(self._at, self._pressed)) <= STILL:
            self.picked = None  # a click beside the bodies
        self._mode = None
        return out

    def _pull(self, pixel: tuple[float, float]) -> None:
        self.sliders[self._slider].pull(sliders.Sheet.of(self.size, len(self.sliders)).share(pixel[0]))

    def _throw(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Where a ball begins that is thrown from the eye, what is under the mouse, and a size [m]."""
        camera = self.camera()
        towards = ray(camera, self._middle(self._at), self.size)
        hit = pick(self.frame, camera, self._middle(self._at), self.size)
        away = camera.distance if hit is None else min(hit.distance, 3.0 * camera.distance)
        return camera.position + 0.25 * away * towards, camera.position + away * towards, 0.025 * camera.distance

    def _seek(self, pixel: tuple[float, float]) -> Command:
        share = hud.TimeLine.of(self.size).share(pixel[0])
        return Command("seek", self.span[0] + share * (self.span[1] - self.span[0]))

    def _beside(self, pixel: tuple[float, float]) -> np.ndarray:
        """The point under a pixel in the plane that faces the camera and holds the point that was grabbed."""
        camera = self.camera()
        towards, back = ray(camera, self._middle(pixel), self.size), camera.axes()[2]
        depth = float((self._hit.point - camera.position) @ back) / float(towards @ back)
        return np.asarray(camera.position) + depth * towards

    def _drop_at(self) -> tuple[np.ndarray, float]:
        """A place above what lies under the mouse, and a size that goes with the view [m]."""
        camera = self.camera()
        size = 0.03 * camera.distance
        hit = pick(self.frame, camera, self._middle(self._at), self.size)
        point = np.asarray(camera.target, float) if hit is None else hit.point
        if hit is not None and hit.distance > 3.0 * camera.distance:
            point = camera.position + 3.0 * camera.distance * ray(camera, self._middle(self._at), self.size)
        return point + (0.0, 0.0, 6.0 * size), size

    @staticmethod
    def _middle(pixel: tuple[float, float]) -> tuple[float, float]:
        return pixel[0] + 0.5, pixel[1] + 0.5
