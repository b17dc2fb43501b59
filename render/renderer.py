"""The renderer: frames to pictures with OpenGL 3.3. A picture is made in passes, listed in :meth:`Renderer.draw`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from render import look
from render.background import LINE_ROOM, Background
from render.camera import Camera
from render.context import GL
from render.footprint import bands
from render.frame import Cast, Frame
from render.meshes import mesh_of, parts_of, planes_of
from render.overlay import panels_of, shades, square_of, strokes_of
from render.programs import Programs
from render.rotation import multiply, rotate
from render.text import Panel

QUAD = np.array([[0, -1], [1, -1], [0, 1], [1, 1]], "f4")  # (end, side) of a stroke
ROUND = ("ball", "cylinder", "cone", "capsule")
INSTANCE = "3f 4f 3f 4f/i"
INSTANCE_NAMES = ("i_position", "i_rotation", "i_scale", "i_color")


@dataclass(eq=False)
class Group:
    """All parts that share a mesh: one draw call."""

    key: tuple
    rows: np.ndarray  # (k,) body of each part
    positions: np.ndarray  # (k, 3), in the body
    orientations: np.ndarray  # (k, 4)
    scales: np.ndarray  # (k, 3)
    colors: np.ndarray  # (k, 4) linear light, and the body's radius
    placed: bool  # some part is moved or turned in its body
    instances: Any = None  # buffer
    drawn: dict[int, tuple[Any, Any, Any]] | None = None  # by detail: vertex arrays of surface, depth and edges


class Renderer:
    """Draws frames into pictures of ``size`` (width, height). ``draw`` returns (height, width, 4) uint8, top row first."""

    def __init__(self, size: tuple[int, int], preset: str, gl: GL):
        self.size, self.preset, self.backend = tuple(size), look.preset(preset), gl.backend
        self.gl = ctx = gl.context
        self._kept: list[Any] = []  # all that has to be given back
        # bodies, lines and text are drawn on the target, the last is read
        self._target = self._last = self._keep(
            ctx.framebuffer([self._keep(ctx.renderbuffer(self.size, 4))], self._keep(ctx.depth_renderbuffer(self.size)))
        )
        samples = min(self.preset.samples, ctx.max_samples)
        if samples > 1:
            colors, depth = (self._keep(make(self.size, samples=samples)) for make in (ctx.renderbuffer, ctx.depth_renderbuffer))
            self._target = self._keep(ctx.framebuffer([colors], depth))
        self._copy = None
        if samples <= 1 and self.preset.smooth:
            self._picture = self._keep(ctx.texture(self.size, 4))
            self._picture.filter = ctx.LINEAR, ctx.LINEAR
            self._picture.repeat_x = self._picture.repeat_y = False
            self._copy = self._keep(ctx.framebuffer([self._picture]))
        self._shadow_map = self._keep(ctx.depth_texture((self.preset.shadow,) * 2))
        self._shadow_map.compare_func = "<="
        self._shadow_map.repeat_x = self._shadow_map.repeat_y = False
        self._shadow_map.filter = (ctx.LINEAR, ctx.LINEAR)
        self._shadow_target = self._keep(ctx.framebuffer(depth_attachment=self._shadow_map))
        self._programs = self._keep(Programs(ctx, self.preset, self.size))
        self._quad = self._keep(ctx.buffer(QUAD.tobytes()))
        self._background = self._keep(Background(ctx, self._programs, self._target))
        self._pixels = np.empty((self.size[1], self.size[0], 4), np.uint8)  # kept: fresh memory costs more than what fills it
        self._on_screen: tuple[Any, Any] | None = None
        self._cast: Cast | None = None
        self._groups: list[Group] = []
        self._planes: list[tuple[int, np.ndarray, float]] = []

    def draw(
        self, frame: Frame, camera: Camera, overlays: tuple[str, ...] = ("text",), panels: Sequence[Panel] = ()
    ) -> np.ndarray:
        """The picture of a frame, with these panels laid over it. The same frame is the same bytes."""
        self.paint(frame, camera, overlays, panels)
        return self.read()

    def paint(self, frame: Frame, camera: Camera, overlays: tuple[str, ...] = ("text",), panels: Sequence[Panel] = ()) -> None:
        """Draw without reading back: for :meth:`show` and :meth:`read`."""
        self._take(frame.cast)
        self._place(frame, camera, overlays)
        self._draw_shadows(frame, camera)
        self._aim(camera)
        self._background.aim(frame, camera, self._planes, self._matrix, self._blur)
        self._background.begin()
        self._draw_bodies(camera)
        self._background.end()
        self._smooth(frame, camera)
        self._draw_edges()
        self._draw_overlays(frame, camera, overlays, panels)

    def show(self, screen: Any) -> None:
        """Draw what was painted on the framebuffer of a window. Not by a copy: its depths may be of another kind."""
        if self._on_screen is None:
            texture = self._keep(self.gl.texture(self.size, 4))
            self._on_screen = texture, self._keep(self.gl.framebuffer([texture]))
        texture, copy = self._on_screen
        if self._last is not self._target:
            self.gl.copy_framebuffer(self._last, self._target)
        self.gl.copy_framebuffer(copy, self._last)
        screen.use()
        self.gl.viewport = (0, 0, *self.size)
        self.gl.enable_only(self.gl.NOTHING)
        texture.use(0)
        self._programs.set("panel", u_place=(0, self.size[1], self.size[0], -self.size[1]))  # OpenGL counts rows from below
        self._programs.render("panel")

    def close(self) -> None:
        """Give back what the picture took from the GL context; the context stays for the next renderer."""
        self._drop_groups()
        while self._kept:
            self._kept.pop().release()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self) -> np.ndarray:
        """What was painted."""
        if self._last is not self._target:
            self.gl.copy_framebuffer(self._last, self._target)
        self._last.read_into(self._pixels.data, components=4)
        return self._pixels[::-1].copy()  # OpenGL counts rows from below

    # what stays: programs, light, meshes

    def _keep(self, thing: Any) -> Any:
        self._kept.append(thing)
        return thing

    def _take(self, cast: Cast) -> None:
        """Sort the parts of all bodies by mesh, once a cast."""
        if cast is self._cast:
            return
        self._drop_groups()
        self._cast = cast
        colors = look.linear(cast.colors)
        radii = np.nan_to_num(cast.balls[1], nan=0.0)
        found: dict[tuple, list] = {}
        for body, shape in enumerate(cast.shapes):
            for part in parts_of(shape):
                found.setdefault(part.key, []).append((body, part))
            self._planes += [(body, normal, offset) for normal, offset in planes_of(shape)]
        self._soft = np.zeros(len(cast), bool)
        for key, members in found.items():
            if mesh_of(key, 16).soft:
                self._soft[[body for body, _ in members]] = True
            rows = np.array([body for body, _ in members])
            positions = np.array([p.position for _, p in members], float)
            orientations = np.array([p.orientation for _, p in members], float)
            placed = bool(positions.any() or (orientations != (1.0, 0.0, 0.0, 0.0)).any())
            scales = np.array([p.scale for _, p in members], float)
            tint = np.concatenate([colors[rows], radii[rows, None]], axis=1)
            buffer = self.gl.buffer(reserve=14 * 4 * len(rows), dynamic=True)
            self._groups.append(Group(key, rows, positions, orientations, scales, tint, placed, buffer, {}))

    def _drop_groups(self) -> None:
        for group in self._groups:
            for arrays in group.drawn.values():
                for array in arrays:
                    if array is not None:
                        array.release()
            group.instances.release()
        self._groups, self._planes, self._cast = [], [], None

    def _arrays(self, group: Group, detail: int) -> tuple[Any, Any, Any]:
        """Vertex arrays of a group's surface, of the same for the shadow map, and of its edges."""
        if detail in group.drawn:
            return group.drawn[detail]
        mesh, ctx = mesh_of(group.key, detail), self.gl
        points, normals, triangles = mesh.triangles()
        instances = (group.instances, INSTANCE, *INSTANCE_NAMES)
        surface = depth = edges = None
        if len(triangles):
            index = ctx.buffer(triangles.astype("i4").tobytes())
            corners = ctx.buffer(np.concatenate([points, normals], axis=1).astype("f4").tobytes())
            program = self._programs["body" if group.key[0] in ROUND else "curved" if mesh.curved else "facet"]
            surface = ctx.vertex_array(program, [(corners, "3f 3f", "in_position", "in_normal"), instances], index)
            thin = (group.instances, "3f 4f 3f 4x4/i", *INSTANCE_NAMES[:3])
            depth = ctx.vertex_array(self._programs["depth"], [(corners, "3f 3x4", "in_position"), thin], index)
        if len(mesh.edges):
            m = len(mesh.edges)
            quads = np.concatenate([np.repeat(mesh.corners[mesh.edges].reshape(m, 6), 4, axis=0), np.tile(QUAD, (m, 1))], axis=1)
            index = (4 * np.arange(m)[:, None] + (0, 1, 2, 2, 1, 3)).astype("i4")
            content = [(ctx.buffer(quads.astype("f4").tobytes()), "3f 3f 2f", "in_a", "in_b", "in_corner"), instances]
            edges = ctx.vertex_array(self._programs["edge"], content, ctx.buffer(index.tobytes()))
        group.drawn[detail] = (surface, depth, edges)
        return group.drawn[detail]

    # what changes with the frame

    def _place(self, frame: Frame, camera: Camera, overlays: tuple[str, ...]) -> None:
        """Poses of all parts to the instance buffers, relative to the camera's target."""
        focal = 0.5 * self.size[1] / np.tan(np.radians(camera.fov_degrees) / 2)
        base = frame.positions - np.asarray(camera.target)
        self._eye = np.subtract(camera.position, camera.target)
        self._detail = []
        others, there = shades(frame, overlays), frame.present
        for group in self._groups:
            x, q = base[group.rows], frame.orientations[group.rows]
            if group.placed:
                x, q = x + rotate(q, group.positions), multiply(q, group.orientations)
            if not there.all():
                x = np.where(there[group.rows, None], x, 2.0 * self._eye)  # removed: behind the eye
                q = np.where(there[group.rows, None], q, (1.0, 0.0, 0.0, 0.0))
            tint = group.colors if others is None else np.concatenate([others[group.rows], group.colors[:, 3:]], axis=1)
            rows = np.concatenate([x, q[:, 1:], q[:, :1], group.scales, tint], axis=1)
            group.instances.write(rows.astype("f4").tobytes())
            detail = 0
            if group.key[0] in ROUND:  # finer where it is larger in the picture
                away = np.maximum(np.linalg.norm(x - self._eye, axis=1), 0.02 * camera.distance)
                pixels = focal * (group.scales.max(axis=1) / away).max()
                detail = int(np.clip(4 * np.ceil(pixels**0.5), 12, self.preset.detail) // 4 * 4)
            self._detail.append(detail)

    def _draw_shadows(self, frame: Frame, camera: Camera) -> None:
        """Depth seen from the sun, in a map fitted to the bodies in view."""
        self._matrix = (
            camera.projection(self.size[0] / self.size[1])
            @ Camera(tuple(self._eye), (0.0, 0.0, 0.0), camera.up, camera.fov_degrees).view()
        )
        to_map, texel = self._sun_view(frame, camera)
        self._programs.set("depth", u_view_projection=to_map)
        half = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
        reach = max(self.preset.softness, 1.0)  # texels that the filter goes: so far off a surface its own depths must not lie
        self._blur = (
            1.5 * reach + self.preset.softness + 1.5
        ) * texel  # that way off, the filter, and the last texel's own width
        self._programs.set_all(u_to_shadow=half @ to_map, u_texel=reach * texel)
        self._shadow_target.use()
        self.gl.viewport = (0, 0, *self._shadow_map.size)
        self._shadow_target.clear(depth=1.0)
        self.gl.enable_only(self.gl.DEPTH_TEST | self.gl.CULL_FACE)
        self.gl.polygon_offset = 1.5 * reach, 2.0
        border = self._shadow_map.width - 2
        self._shadow_target.scissor = 1, 1, border, border  # what lies outside of the map finds no shadow there
        for group, detail in zip(self._groups, self._detail, strict=True):
            depth = self._arrays(group, max(detail * 2 // 3 // 4 * 4, min(detail, 12)))[1]  # an outline is all that is seen of it
            if depth is not None:
                depth.render(instances=len(group.rows))
        self._shadow_target.scissor = None
        self.gl.polygon_offset = 0.0, 0.0

    def _sun_view(self, frame: Frame, camera: Camera) -> tuple[np.ndarray, float]:
        """``(matrix (4, 4) from the world to the sun's clip space, width of a texel [m])``.

        The box is grown to a step of a geometric series and moved by whole texels, so that shadows do not crawl while it
        follows the bodies. Bodies far out of view cast none.
        """
        centers, radii = frame.balls()
        keep = np.isfinite(radii)
        centers, radii = centers[keep] - np.asarray(camera.target), radii[keep]
        near = np.linalg.norm(centers, axis=1) - radii <= 3.0 * camera.distance
        if not near.any():
            return np.eye(4), 1.0
        centers, radii = centers[near], radii[near, None]
        right = np.cross((0.0, 1.0, 0.0), look.SUN)
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(look.SUN, right), look.SUN])
        seen = centers @ axes.T
        lo, hi = (seen - radii).min(axis=0), (seen + radii).max(axis=0)
        step = 2.0**0.125
        width = np.array([step ** np.ceil(np.log(1.04 * max(w, 1e-9)) / np.log(step)) for w in (hi - lo)[:2]])
        texels = width / self._shadow_map.width
        middle = np.round(0.5 * (lo + hi)[:2] / texels) * texels
        depth = 1.02 * max(hi[2] - lo[2], 1e-9)
        top = 0.5 * (lo[2] + hi[2]) + 0.5 * depth
        out = np.eye(4)
        out[:2, :3] = axes[:2] * (2.0 / width)[:, None]
        out[:2, 3] = -2.0 * middle / width
        out[2, :3] = -2.0 / depth * axes[2]
        out[2, 3] = 2.0 * top / depth - 1.0
        return out, float(texels.max())

    def _aim(self, camera: Camera) -> None:
        horizon = look.HORIZON
        ground = horizon if self._planes else look.NADIR  # a floor without end meets the sky at the horizon
        focal = 0.5 * self.size[1] / np.tan(np.radians(camera.fov_degrees) / 2)
        self._programs.set_all(u_view_projection=self._matrix, u_eye=self._eye, u_horizon=horizon, u_nadir=ground, u_focal=focal)
        self._shadow_map.use(0)

    def _draw_bodies(self, camera: Camera) -> None:
        gl = self.gl
        gl.enable_only(gl.DEPTH_TEST | gl.CULL_FACE)
        gl.depth_func = "<"
        gl.polygon_offset = LINE_ROOM
        for group, detail in zip(self._groups, self._detail, strict=True):
            surface = self._arrays(group, detail)[0]
            if surface is not None:
                surface.render(instances=len(group.rows))
        gl.polygon_offset = 0.0, 0.0
        gl.disable(gl.CULL_FACE)

    def _smooth(self, frame: Frame, camera: Camera) -> None:
        """Smooth the stairs of round bodies; the others have edge lines for outlines, and these are smooth by themselves."""
        soft = self._soft
        if self._copy is None or not soft.any():
            return
        centers, radii = frame.balls()
        pixels, depth = camera.project(centers[soft], self.size)
        radii = radii[soft]
        rects = [(0, 0, *self.size)]
        if (depth > 1.2 * radii).all():
            focal = 0.5 * self.size[1] / np.tan(np.radians(camera.fov_degrees) / 2)
            reach = 1.3 * focal * (radii / (depth - radii))[:, None] + 3
            rects = bands(pixels - reach, pixels + reach, self.size)
        self.gl.copy_framebuffer(self._copy, self._target)
        self._target.use()
        self._picture.use(0)
        self.gl.enable_only(self.gl.NOTHING)
        for self._target.scissor in rects:
            self._programs.render("smooth")
        self._target.scissor = None
        self.gl.enable(self.gl.DEPTH_TEST)

    def _draw_edges(self) -> None:
        self.gl.enable(self.gl.BLEND)
        self.gl.blend_func = self.gl.SRC_ALPHA, self.gl.ONE_MINUS_SRC_ALPHA
        self._target.depth_mask = False
        for group, detail in zip(self._groups, self._detail, strict=True):
            edges = self._arrays(group, detail)[2]
            if edges is not None:
                edges.render(instances=len(group.rows))
        self._target.depth_mask = True

    def _draw_overlays(self, frame: Frame, camera: Camera, overlays: tuple[str, ...], panels: Sequence[Panel]) -> None:
        gl = self.gl
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
            texture.use(0)
            self._programs.set("panel", u_place=(panel.left, panel.top, w, h))
            self._programs.render("panel")
            texture.release()
        self._target.depth_mask = True
        gl.enable_only(gl.NOTHING)
