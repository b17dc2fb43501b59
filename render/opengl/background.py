"""What stands behind the bodies, floors and sky: drawn by formula, or copied where it is as it was in the picture before.

Most of a picture is floor, and by far the most of the time goes into it. While camera and floors stand still, all of it but
the shadows stays: then it is drawn once into a layer of its own, with its depths, and pictures begin with a copy of that.
The bytes are the same either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.frames.frame import Frame
from tumble.render.frames.overlay import square_of
from tumble.render.opengl.footprint import around, shadowed
from tumble.render.opengl.programs import Owner, Programs
from tumble.render.software.floor_and_sky import plane_axes

FLOOR = np.stack([look.FLOOR_DARK, look.FLOOR_LIGHT, look.FLOOR_LINE])
LINE_ROOM = 1.2, 1.0  # polygon offset: surfaces go back by what a steep one gains in depth over half an edge line


class Background(Owner):
    """Floors and sky of pictures on ``target``. A picture goes :meth:`aim`, :meth:`begin`, bodies, :meth:`end`."""

    def __init__(self, context: Any, programs: Programs, target: Any):
        super().__init__()
        self._gl, self._programs, self._target = context, programs, target
        self._whole = programs.gathered  # light is worked out at every pixel, each time anew
        self._layer: Any = None  # a framebuffer, once there is a camera that stands still
        self._drawn: Any = None  # what was drawn there
        self._last: Any = None  # what the picture before this one had behind it
        self._same = False
        self._floors: list[tuple[dict, bool, tuple]] = []  # uniforms, seen from below, where shadows may fall
        self._sky: dict[str, Any] = {}
        self.mapped = False  # there is a map of how much sky is open over the one level floor

    def aim(
        self,
        frame: Frame,
        camera: Camera,
        planes: list[tuple[int, np.ndarray, float]],
        matrix: np.ndarray,
        blur: float,
        sky: float = 0.0,
    ):
        """Take the floors of a frame, ``planes`` as (body, normal, offset), as a camera sees them.

        ``matrix`` (4, 4) is that to the clip space; ``blur`` [m] how far the filter of a shadow's edge reaches, ``sky`` [m] how
        far around them bodies hide the sky.
        """
        size, target, eye = self._target.size, np.asarray(camera.target), np.subtract(camera.position, camera.target)
        square = square_of(camera)
        centers, radii = frame.balls()
        seen = np.isfinite(radii)
        self._floors = []
        for body, normal, offset in planes:
            n, level = frame.floor(body, normal, offset)
            middle = target - (n @ target - level) * n  # under the camera's target
            a, b = plane_axes(n)
            below = bool(n @ eye < level - n @ target)
            in_sun, in_shade = look.floor_colors(-n if below else n)
            floor = {
                "u_in_sun": in_sun,
                "u_in_shade": in_shade,
                "u_middle": middle - target,
                "u_axis_a": a,
                "u_axis_b": b,
                "u_normal": -n if below else n,
                "u_reach": 30.0 * camera.distance,
                "u_phase": np.mod(np.array([middle @ a, middle @ b]) / square, 20.0),
                "u_square": square,
                "u_haze": (6.0 * camera.distance) ** -2,
                "u_cover": 0.35 if below else 1.0,
                **({"u_albedo": FLOOR} if self._whole else {}),
            }
            everywhere = [(0, 0, *size)]
            shade = everywhere if self._whole else shadowed(camera, size, n, level, centers[seen], radii[seen], blur, sky)
            self._floors.append((floor, below, shade))
        right, up, back = camera.axes()
        tall = camera.tangent
        self._sky = {"u_forward": -back, "u_right": right * tall * size[0] / size[1], "u_up": up * tall}
        now = self._signature(matrix)
        self._same, self._last = now == self._last, now

    @property
    def floor(self) -> tuple[np.ndarray, np.ndarray] | None:
        """``(normal (3,), a point of it (3,) [m] relative to the camera's target)`` of the first floor seen from above."""
        return next(((f["u_normal"], f["u_middle"]) for f, below, _ in self._floors if not below), None)

    @property
    def level(self) -> float | None:
        """[m] of the one floor that is level and seen from above, relative to the camera's target."""
        levels = [float(f["u_middle"][2]) for f, _, _ in self._floors if f["u_normal"][2] == 1.0]
        return levels[0] if len(levels) == 1 else None

    def _signature(self, matrix: np.ndarray) -> bytes:
        """All that the picture behind the bodies is made of, but for their shadows."""
        floors = (value for floor, _, _ in self._floors for value in floor.values())
        return b"".join(np.asarray(value, float).tobytes() for value in (matrix, *self._sky.values(), *floors))

    def begin(self) -> None:
        """Make the target ready for bodies: empty, or with the layer on it if this is seen for more than one picture."""
        veiled = any(below for _, below, _ in self._floors)  # by a floor seen from inside the ground, over what is behind it
        if self._same and not veiled and not self._whole and self._drawn != self._last:
            self._keep_layer()
        if self._drawn == self._last:
            self._gl.copy_framebuffer(self._target, self._layer)
            self._target.use()
        else:
            self._clear(self._target)

    def end(self) -> None:
        """Draw what is not there yet: floors where shadows may fall; all the rest too if there was no layer."""
        whole = self._drawn != self._last
        self._draw_floors(self._target, True, whole)
        if whole:
            self._draw_sky()

    def _keep_layer(self) -> None:
        if self._layer is None:
            size, keep = self._target.size, self._keep
            colors, depths = keep(self._gl.renderbuffer(size, 4)), keep(self._gl.depth_renderbuffer(size))
            self._layer = keep(self._gl.framebuffer([colors], depths))
        self._clear(self._layer)
        self._gl.enable_only(self._gl.DEPTH_TEST)
        self._draw_floors(self._layer, False, True)
        self._draw_sky()
        self._drawn = self._last

    def _clear(self, target: Any) -> None:
        target.use()
        target.clear(0.0, 0.0, 0.0, 1.0, depth=1.0)

    def _draw_floors(self, target: Any, shadows: bool, rest: bool) -> None:
        """Floors without shadows where none can be, ``rest``, and with them where they may be, ``shadows``."""
        gl = self._gl
        gl.depth_func = "<="  # where a floor is as far as a body, or is there already, it is drawn
        gl.blend_func = gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA
        gl.polygon_offset = LINE_ROOM
        for values, below, shade in self._floors:
            (gl.enable if below else gl.disable)(gl.BLEND)
            shaded = shade if shadows else []
            level = " LEVEL" if values["u_normal"][2] == 1.0 else ""
            mapped = " MAPPED" if self.mapped and level else ""
            for name, rects in (("floor" + mapped, shaded), ("floor PLAIN", around(shaded, target.size) if rest else [])):
                program = name + level
                if rects:
                    self._programs.set(program, **values)
                for target.scissor in rects:
                    self._programs.render(program)
            target.scissor = None
        gl.polygon_offset = 0.0, 0.0
        gl.disable(gl.BLEND)

    def _draw_sky(self) -> None:
        self._programs.set("sky", **self._sky)
        self._programs.render("sky")
