"""The renderer: frames to pictures with OpenGL 3.3. A picture is made in passes, listed in :meth:`Renderer.paint`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.frames.frame import Cast, Frame
from tumble.render.frames.overlay import panels_of, square_of, strokes_of
from tumble.render.opengl.background import LINE_ROOM, Background
from tumble.render.opengl.context import GL, draws_lines
from tumble.render.opengl.footprint import bands
from tumble.render.opengl.gather import Gathering, Light, lights
from tumble.render.opengl.groups import QUAD, Groups
from tumble.render.opengl.maps import HeightMap, ShadowMap, seen_balls
from tumble.render.opengl.programs import UNITS, Owner, Programs
from tumble.render.text import Panel

BEHIND = UNITS["u_picture"]
ROOM = 2.0**0.5  # a slanted line of OpenGL is so much narrower than its width
CROWD = 2.0 / 3.0  # of the texels of the shadow map, for thousands of triangles on it; shadows stay as soft


class Renderer(Owner):
    """Draws frames into pictures of ``size`` (width, height). ``draw`` returns (height, width, 4) uint8, top row first."""

    def __init__(self, size: tuple[int, int], preset: str, gl: GL):
        super().__init__()
        self.size, self.preset, self.backend = tuple(size), look.preset(preset), gl.backend
        self.gl = ctx = gl.context
        self._wait = gl.wait
        self._target = self._keep(
            ctx.framebuffer([self._keep(ctx.renderbuffer(self.size, 4))], self._keep(ctx.depth_renderbuffer(self.size)))
        )
        self._programs = self._keep(Programs(ctx, self.preset, self.size))
        self._wide = ROOM * (self._programs.line_width + 1.0)  # of lines that the edges are drawn as
        self._groups = self._keep(Groups(ctx, self._programs, self.preset.detail, draws_lines(gl, self._wide)))
        self._suns: dict[int, ShadowMap] = {}  # by texels
        self._above = self._keep(HeightMap(ctx)) if self.preset.occluded else None
        self._gathering = self._keep(Gathering(ctx, self._programs, self._target)) if self.preset.shots > 1 else None
        self._scene = self._target if self._gathering is None else self._gathering.shot  # what bodies are drawn on
        self._behind: tuple[Any, Any] | None = None  # a copy of the picture, and its framebuffer
        self._quad = self._keep(ctx.buffer(QUAD.tobytes()))
        self._background = self._keep(Background(ctx, self._programs, self._scene))
        self._pixels = np.empty((self.size[1], self.size[0], 4), np.uint8)  # kept: fresh memory costs more than what fills it
        self._bare: Any = None
        self._copies = False  # to a window
        self._on_screen: tuple[Any, Any] | None = None
        self._cast: Cast | None = None
        self._planes: list[tuple[int, np.ndarray, float]] = []

    def draw(
        self,
        frame: Frame,
        camera: Camera,
        overlays: tuple[str, ...] = ("text",),
        panels: Sequence[Panel] = (),
        moments: Sequence[Frame] = (),
    ) -> np.ndarray:
        """The picture of a frame, with these panels laid over it. The same frame is the same bytes.

        ``moments``: frames of the same cast while the shutter is open, for a preset that sums up several pictures.
        """
        self.paint(frame, camera, overlays, panels, moments)
        return self.read()

    def paint(
        self,
        frame: Frame,
        camera: Camera,
        overlays: tuple[str, ...] = ("text",),
        panels: Sequence[Panel] = (),
        moments: Sequence[Frame] = (),
    ) -> None:
        """Draw without reading back: for :meth:`show` and :meth:`read`."""
        self._take(frame.cast)
        if self._gathering is None:
            self._shoot(frame, camera, overlays, Light(look.SUN))
        else:
            self._gathering.begin()
            shots = lights(self.preset.shots)
            for k, light in enumerate(shots):
                seen = moments[k * len(moments) // len(shots)] if moments else frame
                self._shoot(seen, camera, overlays, light)
                self._gathering.add()
            self._gathering.end()
        self._draw_overlays(frame, camera, overlays, panels)

    def show(self, screen: Any) -> None:
        """Copy what was painted to the framebuffer of a window; where its driver does not copy, draw it there."""
        self._wait()  # a copy waits too, but holds Python's lock
        if self._bare is None:  # the colours alone: depths of another kind can not be copied
            self._bare = self._keep(self.gl.framebuffer([self._target.color_attachments[0]]))
            _ = self.gl.error  # not of this
            self.gl.copy_framebuffer(screen, self._bare)
            self._copies = self.gl.error == "GL_NO_ERROR"
        if self._copies:
            self.gl.copy_framebuffer(screen, self._bare)
            return
        if self._on_screen is None:
            texture = self._keep(self.gl.texture(self.size, 4))
            self._on_screen = texture, self._keep(self.gl.framebuffer([texture]))
        texture, copy = self._on_screen
        self.gl.copy_framebuffer(copy, self._target)
        screen.use()
        self.gl.viewport = (0, 0, *self.size)
        self.gl.enable_only(self.gl.NOTHING)
        texture.use(BEHIND)
        self._programs.set("panel", u_place=(0, self.size[1], self.size[0], -self.size[1]))  # OpenGL counts rows from below
        self._programs.render("panel")

    def close(self) -> None:
        """Give back what the picture took from the GL context; the context stays for the next renderer."""
        self.release()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self) -> np.ndarray:
        """What was painted."""
        self._target.read_into(self._pixels.data, components=4)
        return self._pixels[::-1].copy()  # OpenGL counts rows from below

    def _take(self, cast: Cast) -> None:
        if cast is not self._cast:
            self._groups.take(cast)
            self._cast = cast
            crowd = self._gathering is None and any(group.crowd for group in self._groups.all)
            texels = round(self.preset.shadow * (CROWD if crowd else 1.0))
            if texels not in self._suns:
                self._suns[texels] = self._keep(ShadowMap(self.gl, texels, "u_shadow"))
            self._sun, self._softness = self._suns[texels], self.preset.softness * texels / self.preset.shadow
            self._programs.set_all(u_softness=self._softness)
            self._planes = cast.floors

    # one picture, in one light

    def _shoot(self, frame: Frame, camera: Camera, overlays: tuple[str, ...], light: Light) -> None:
        self._groups.place(frame, camera, overlays, self.size[1])
        self._eye = np.subtract(camera.position, camera.target)
        self._matrix = self._seen_by(camera, light.shift)
        blur, sky = self._draw_maps(frame, camera, light)
        self._aim(camera)
        self._background.aim(frame, camera, self._planes, self._matrix, blur, sky)
        self._background.mapped = self._above is not None and sky > 0.0 and self._background.level is not None
        if self._background.mapped:
            self._above.over(self._programs, self._background.level)
        if self._gathering is not None:
            self._draw_mirrored(light)
        self._background.begin()
        self._draw_bodies(lambda group: group.finish != "glass")
        self._background.end()
        self._draw_glass()
        if self._gathering is None:  # there the light alone tells faces apart
            self._smooth(frame, camera)
            self._draw_edges()

    def _seen_by(self, camera: Camera, shift: tuple[float, float]) -> np.ndarray:
        """(4, 4) from places relative to the camera's target to the clip space; ``shift`` [pixels] of the picture."""
        from_target = Camera(tuple(self._eye), (0.0, 0.0, 0.0), camera.up, camera.fov_degrees)
        out = camera.projection(self.size[0] / self.size[1]) @ from_target.view()
        out[:2] += (2.0 * np.array(shift) / self.size)[:, None] * out[3]
        return out

    def _draw_maps(self, frame: Frame, camera: Camera, light: Light) -> tuple[float, float]:
        """What bodies hide from sun and sky; how far beyond them that reaches [m]: the edges of shadows, and the sky."""
        balls, reach = seen_balls(frame, camera), max(self._softness, 1.0)
        to_map, texel = self._sun.draw(self._groups, self._programs, balls, light.sun, reach)
        self._programs.set_all(u_sun=light.sun, u_to_shadow=to_map, u_texel=reach * texel)
        sky = 0.0
        if self._above is not None:
            sky = self._above.draw(self._groups, self._programs, balls, np.asarray(camera.target))
        if self._gathering is not None:
            to_sky, sky_texel = self._gathering.sky.draw(self._groups, self._programs, balls, light.sky, 2.0)
            self._programs.set_all(u_sky=light.sky, u_to_sky=to_sky, u_sky_texel=2.0 * sky_texel)
        # that way off the surface, the filter, and the last texel's own width
        return (1.5 * reach + self._softness + 1.5) * texel, sky

    def _aim(self, camera: Camera) -> None:
        gathered = self._programs.gathered
        horizon = look.HORIZON_LIGHT if gathered else look.HORIZON
        ground = horizon if self._planes else look.NADIR_LIGHT if gathered else look.NADIR  # a floor meets the sky at the horizon
        focal = camera.focal(self.size[1])
        self._programs.set_all(u_view_projection=self._matrix, u_eye=self._eye, u_horizon=horizon, u_nadir=ground, u_focal=focal)

    def _draw_bodies(self, of: Any) -> None:
        gl = self.gl
        gl.enable_only(gl.DEPTH_TEST | gl.CULL_FACE)
        gl.depth_func = "<"
        gl.polygon_offset = LINE_ROOM
        self._groups.draw("surface", of)
        gl.polygon_offset = 0.0, 0.0
        gl.disable(gl.CULL_FACE)

    def _draw_mirrored(self, light: Light) -> None:
        """The bodies as the first floor mirrors them, by a camera below it; a rough floor turns that a little each time."""
        gl, target = self.gl, self._gathering.mirrored
        target.use()
        target.clear()
        floor = self._background.floor
        self._programs.set_all(u_mirrors=float(floor is not None))
        if floor is None:
            return
        normal, middle = floor
        tilted = normal + light.tilt
        tilted /= np.linalg.norm(tilted)
        mirror = np.eye(4)
        mirror[:3, :3] -= 2.0 * np.outer(tilted, tilted)
        mirror[:3, 3] = 2.0 * float(tilted @ middle) * tilted
        self._programs.set_all(u_view_projection=self._matrix @ mirror, u_eye=mirror[:3, :3] @ self._eye + mirror[:3, 3])
        gl.front_face = "cw"
        self._draw_bodies(lambda group: group.finish != "glass")
        gl.front_face = "ccw"
        self._programs.set_all(u_view_projection=self._matrix, u_eye=self._eye)

    def _draw_glass(self) -> None:
        """Bodies of glass, over a copy of all that is behind them."""
        if any(group.finish == "glass" for group in self._groups.all):
            self._copy()
            self._draw_bodies(lambda group: group.finish == "glass")

    def _copy(self) -> None:
        """What was drawn so far as a texture."""
        if self._behind is None:
            texture = self._keep(self.gl.texture(self.size, 4, dtype="f2" if self._programs.gathered else "f1"))
            texture.filter = self.gl.LINEAR, self.gl.LINEAR
            texture.repeat_x = texture.repeat_y = False
            self._behind = texture, self._keep(self.gl.framebuffer([texture]))
        self.gl.copy_framebuffer(self._behind[1], self._scene)
        self._scene.use()
        self._behind[0].use(BEHIND)

    def _smooth(self, frame: Frame, camera: Camera) -> None:
        """Smooth the stairs of round bodies; the others have edge lines for outlines, and these are smooth by themselves."""
        soft = self._groups.soft
        if not self.preset.smooth or not soft.any():
            return
        centers, radii = frame.balls()
        pixels, depth = camera.project(centers[soft], self.size)
        radii = radii[soft]
        rects = [(0, 0, *self.size)]
        if (depth > 1.2 * radii).all():
            focal = camera.focal(self.size[1])
            reach = 1.3 * focal * (radii / (depth - radii))[:, None] + 3
            rects = bands(pixels - reach, pixels + reach, self.size)
        self._copy()
        self.gl.enable_only(self.gl.NOTHING)
        for self._scene.scissor in rects:
            self._programs.render("smooth")
        self._scene.scissor = None
        self.gl.enable(self.gl.DEPTH_TEST)

    def _draw_edges(self) -> None:
        gl = self.gl
        gl.enable(gl.DEPTH_TEST)
        gl.enable(gl.BLEND)
        gl.blend_func = gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA
        self._scene.depth_mask = False
        gl.line_width = self._wide
        self._groups.draw("edges")
        gl.line_width = 1.0
        self._scene.depth_mask = True

    # what is laid over it

    def _draw_overlays(self, frame: Frame, camera: Camera, overlays: tuple[str, ...], panels: Sequence[Panel]) -> None:
        gl = self.gl
        self._target.use()
        gl.enable(gl.BLEND)
        gl.blend_func = gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE
        self._target.depth_mask = False
        for strokes in strokes_of(frame, camera, overlays, self.size):
            rows = strokes.rows.copy()
            rows[:, 0:3] -= camera.target
            rows[:, 3:6] -= camera.target
            buffer = gl.buffer(rows.astype("f4").tobytes())
            names = ("i_a", "i_b", "i_width", "i_color_a", "i_color_b")
            content = [(self._quad, "2f", "in_corner"), (buffer, "3f 3f 2f 4f 4f/i", *names)]
            array = gl.vertex_array(self._programs["stroke"], content)
            (gl.disable if strokes.xray else gl.enable)(gl.DEPTH_TEST)
            array.render(gl.TRIANGLE_STRIP, instances=len(rows))
            array.release()
            buffer.release()
        gl.disable(gl.DEPTH_TEST)
        square = square_of(camera) if self._planes else None
        for panel in (*panels_of(frame, camera, overlays, self.size, square), *panels):
            h, w = panel.pixels.shape[:2]
            texture = gl.texture((w, h), 4, np.ascontiguousarray(panel.pixels).tobytes())
            texture.filter = gl.NEAREST, gl.NEAREST
            texture.use(BEHIND)
            self._programs.set("panel", u_place=(panel.left, panel.top, w, h))
            self._programs.render("panel")
            texture.release()
        self._target.depth_mask = True
        gl.enable_only(gl.NOTHING)
