"""The software painter: frames to pictures without OpenGL, by filled polygons on a pygame surface of twice the size.

It has no depth buffer: convex parts are painted from back to front. Bodies cast shadows on floors, not on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.frames.frame import Cast, Frame
from tumble.render.frames.overlay import panels_of, shades, square_of, strokes_of
from tumble.render.frames.strokes import Strokes
from tumble.render.meshes.meshes import Part, mesh_of, parts_of
from tumble.render.meshes.relief import corner_colors
from tumble.render.rotation import rotate
from tumble.render.software.floor_and_sky import backdrop
from tumble.render.software.order import back_to_front
from tumble.render.text import Panel
from tumble.sim.scene.visual import RELIEF

ZOOM = 2  # drawn so many times larger, then averaged
DETAIL = {"fast": 16, "default": 32, "best": 48}
MANY = 40  # faces that a part may have in the search for the order


@dataclass(eq=False)
class Props:
    """All convex parts of a cast, their corners and faces one after the other, in the frames of their bodies."""

    bodies: np.ndarray  # (k,) of each part
    corners: np.ndarray  # (c, 3)
    faces: list[list[tuple[int, ...]]]  # of each part, counting from its own first corner
    lined: list[list[list[tuple[int, int]]]]  # edges of each face that get a line
    centers: np.ndarray  # (f, 3)
    normals: np.ndarray  # (f, 3) exact
    smooth: np.ndarray  # (f, 3) of the surface that the face stands for
    offsets: np.ndarray  # (f,) normal . x on the face
    albedo: np.ndarray  # (f, 3) linear
    tones: np.ndarray  # (f,) of the pattern
    lines: np.ndarray  # (k, 3) colour of lines, 0 to 255
    corner_at: np.ndarray  # (k + 1,) where the corners of each part begin
    face_at: np.ndarray  # (k + 1,)
    rough: tuple[np.ndarray, np.ndarray, np.ndarray]  # corners (k, c, 3), normals (k, f, 3), offsets (k, f) with few faces

    @property
    def corner_body(self) -> np.ndarray:
        return np.repeat(self.bodies, np.diff(self.corner_at))

    @property
    def face_body(self) -> np.ndarray:
        return np.repeat(self.bodies, np.diff(self.face_at))


class Painter:
    """Draws frames into pictures of ``size`` (width, height). ``draw`` returns (height, width, 4) uint8, top row first."""

    backend = "painter"

    def __init__(self, size: tuple[int, int], preset: str):
        import pygame

        look.preset(preset)
        self.size, self._detail, self._pygame = tuple(size), DETAIL[preset], pygame
        self._large = (ZOOM * size[0], ZOOM * size[1])
        self._canvas = pygame.Surface(self._large, pygame.SRCALPHA)
        self._cast: Cast | None = None
        self._props: Props | None = None
        self._planes: list[tuple[int, np.ndarray, float]] = []
        self._kept: tuple = (None, None, None, None)

    def draw(
        self,
        frame: Frame,
        camera: Camera,
        overlays: tuple[str, ...] = ("text",),
        panels: Sequence[Panel] = (),
        moments: Sequence[Frame] = (),
    ) -> np.ndarray:
        """The picture of a frame, with these panels laid over it. The same frame is the same bytes.

        ``moments``: frames while the shutter is open; of these the mean.
        """
        if moments:
            some = moments[:: max(len(moments) // 8, 1)]
            return np.mean([self.draw(moment, camera, overlays, panels) for moment in some], axis=0).round().astype(np.uint8)
        pygame = self._pygame
        self._take(frame.cast)
        corners = self._corners(frame)
        picture = self._ground(frame, camera, corners)
        strokes = strokes_of(frame, camera, overlays, self.size)
        self._canvas.fill((0, 0, 0, 0))
        self._strokes([s for s in strokes if not s.xray], camera)
        self._bodies(frame, camera, corners, shades(frame, overlays))
        self._strokes([s for s in strokes if s.xray], camera)
        small = pygame.transform.smoothscale(self._canvas, self.size)  # colours come out multiplied by their cover
        picture.blit(small, (0, 0), special_flags=pygame.BLEND_PREMULTIPLIED)
        square = square_of(camera) if self._planes else None
        for panel in (*panels_of(frame, camera, overlays, self.size, square), *panels):
            h, w = panel.pixels.shape[:2]
            picture.blit(pygame.image.frombuffer(panel.pixels.tobytes(), (w, h), "RGBA"), (panel.left, panel.top))
        pixels = np.frombuffer(pygame.image.tobytes(picture, "RGBA"), np.uint8)
        return pixels.reshape(self.size[1], self.size[0], 4).copy()

    def close(self) -> None:
        """Nothing to give back."""

    def __enter__(self) -> Painter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, cast: Cast) -> None:
        if cast is not self._cast:
            self._cast, self._props = cast, props_of(cast, self._detail)
            self._planes = cast.floors

    def _corners(self, frame: Frame) -> np.ndarray:
        """(c, 3) corners of all parts in the world."""
        bodies = self._props.corner_body
        return frame.positions[bodies] + rotate(frame.orientations[bodies], self._props.corners)

    def _bodies(self, frame: Frame, camera: Camera, corners: np.ndarray, others: np.ndarray | None) -> None:
        props, eye = self._props, np.asarray(camera.position)
        if not len(props.bodies):
            return
        flat, depth = camera.project(corners, self._large)
        start = props.corner_at[:-1]
        boxes = np.concatenate([np.minimum.reduceat(flat, start), np.maximum.reduceat(flat, start)], axis=1)
        shown = np.minimum.reduceat(depth, start) > 0.01 * camera.distance  # not behind the eye, and in the picture
        shown &= (boxes[:, :2] < self._large).all(axis=1) & (boxes[:, 2:] > 0).all(axis=1)
        shown = np.flatnonzero(shown)
        x, q = frame.positions[props.bodies], frame.orientations[props.bodies]
        rough, rough_normals, rough_offsets = props.rough
        turned = rotate(q[:, None], rough_normals)
        order = back_to_front(
            eye,
            (x[:, None] + rotate(q[:, None], rough))[shown],
            turned[shown],
            (rough_offsets + np.einsum("kfi,ki->kf", turned, x))[shown],
            boxes[shown],
        )
        faces = props.face_body
        normals = rotate(frame.orientations[faces], props.normals)
        towards = eye - frame.positions[faces]
        facing = np.einsum("ij,ij->i", normals, towards) > props.offsets
        colors = self._shade(frame, camera, others).tolist()
        lines = props.lines.tolist()
        polygon, line = self._pygame.draw.polygon, self._pygame.draw.line
        width = max(round(ZOOM * 1.4 * self.size[1] / 720), 1)
        flat = flat.tolist()
        for k in shown[order].tolist():
            points = flat[props.corner_at[k] : props.corner_at[k + 1]]
            first, edges = int(props.face_at[k]), set()
            for f in np.flatnonzero(facing[first : props.face_at[k + 1]]).tolist():
                polygon(self._canvas, colors[first + f], [points[c] for c in props.faces[k][f]])
                edges.update(props.lined[k][f])
            if not props.faces[k]:  # a thin thing is its line
                edges = {(0, len(points) - 1)}
            elif (boxes[k, 2:] - boxes[k, :2]).max() < 8 * ZOOM:
                continue
            for a, b in edges:
                line(self._canvas, lines[k], points[a], points[b], width)

    def _shade(self, frame: Frame, camera: Camera, others: np.ndarray | None) -> np.ndarray:
        """(f, 3) colours of all faces, 0 to 255: as light.glsl, without shadows; ``others``: what bodies have for their own."""
        props, faces = self._props, self._props.face_body
        albedo = props.albedo if others is None else props.tones[:, None] * others[faces]
        turn = frame.orientations[faces]
        n = rotate(turn, props.smooth)
        towards = _unit(np.asarray(camera.position) - frame.positions[faces] - rotate(turn, props.centers))
        sun = np.maximum(n @ look.SUN, 0.0)[:, None] * look.SUN_LIGHT
        ambient = look.GROUND_LIGHT + (0.5 + 0.5 * n[:, 2:]) * (look.SKY_LIGHT - look.GROUND_LIGHT)
        gleam = np.maximum(np.einsum("ij,ij->i", n, _unit(look.SUN + towards)), 0.0)[:, None] ** 32
        return np.round(255 * look.display(albedo * (ambient + sun) + 0.09 * gleam * sun)).clip(0, 255)

    def _ground(self, frame: Frame, camera: Camera, corners: np.ndarray):
        """A new surface with sky, floors and the shadows on them."""
        pygame = self._pygame
        planes = [frame.floor(*plane) for plane in self._planes]
        key = (camera, tuple((*n, level) for n, level in planes))
        if key != self._kept[0]:
            in_sun, in_shade, masks = backdrop(camera, planes, self.size)
            as_bytes = lambda a: np.round(255 * a).clip(0, 255).astype(np.uint8)  # noqa: E731
            self._kept = (key, as_bytes(in_sun), as_bytes(in_shade), masks)
        _, in_sun, in_shade, masks = self._kept
        pixels = in_sun.copy()
        for (normal, level), mask in zip(planes, masks, strict=True):
            shade = self._shadows(normal, level, camera, corners)
            if shade is not None:
                (left, top, right, bottom), dark = shade
                part = (slice(top, bottom), slice(left, right))
                amount = (dark * mask[part])[..., None].astype(np.int16)
                mixed = in_sun[part] + ((in_shade[part].astype(np.int16) - in_sun[part]) * amount) // 255
                pixels[part] = np.where(mask[part][..., None], mixed, pixels[part])
        return pygame.image.frombuffer(pixels.tobytes(), self.size, "RGB").copy()

    def _shadows(self, normal: np.ndarray, level: float, camera: Camera, corners: np.ndarray) -> tuple | None:
        """``((left, top, right, bottom), darkness (h, w) 0 to 255)`` of the shadows on a plane, None where there are none."""
        pygame = self._pygame
        slope = float(normal @ look.SUN)
        if not len(corners) or slope <= 0.05 or float(normal @ camera.position) < level:
            return None
        height = corners @ normal - level
        flat, depth = camera.project(corners - np.maximum(height, 0.0)[:, None] / slope * look.SUN, self.size)
        start = self._props.corner_at[:-1]
        cast = (np.maximum.reduceat(height, start) > 0) & (np.minimum.reduceat(depth, start) > 0.01 * camera.distance)
        loops = [_outline(flat[start[k] : self._props.corner_at[k + 1]]) for k in np.flatnonzero(cast)]
        loops = [loop for loop in loops if len(loop) > 2]
        if not loops:
            return None
        every = np.concatenate(loops)
        left, top = np.clip(np.floor(every.min(axis=0)) - 4, 0, self.size).astype(int)
        right, bottom = np.clip(np.ceil(every.max(axis=0)) + 4, 0, self.size).astype(int)
        if right - left < 2 or bottom - top < 2:
            return None
        surface = pygame.Surface((right - left, bottom - top), 0, 24)
        for loop in loops:
            pygame.draw.polygon(surface, (255, 255, 255), (loop - (left, top)).tolist())
        half = (max((right - left) // 2, 1), max((bottom - top) // 2, 1))
        soft = pygame.transform.smoothscale(pygame.transform.smoothscale(surface, half), (right - left, bottom - top))
        red = np.frombuffer(pygame.image.tobytes(soft, "RGB"), np.uint8).reshape(bottom - top, right - left, 3)[..., 0]
        return (int(left), int(top), int(right), int(bottom)), red

    def _strokes(self, strokes: list[Strokes], camera: Camera) -> None:
        for stroke in strokes:
            a, depth_a = camera.project(stroke.rows[:, 0:3], self._large)
            b, depth_b = camera.project(stroke.rows[:, 3:6], self._large)
            along = b - a
            size = np.linalg.norm(along, axis=1, keepdims=True)
            dot = size[:, 0] < 1e-6
            along = np.where(size > 1e-6, along / np.maximum(size, 1e-6), (1.0, 0.0))
            across = np.stack([-along[:, 1], along[:, 0]], axis=1)
            half = 0.5 * ZOOM * stroke.rows[:, 6:8]
            a, b = a - np.where(dot, half[:, 0], 0.0)[:, None] * along, b + np.where(dot, half[:, 1], 0.0)[:, None] * along
            quads = np.stack(
                [a + half[:, :1] * across, b + half[:, 1:] * across, b - half[:, 1:] * across, a - half[:, :1] * across], axis=1
            )
            colors = np.round(255 * 0.5 * (stroke.rows[:, 8:12] + stroke.rows[:, 12:16]))
            for quad, color, near in zip(quads.tolist(), colors.tolist(), np.minimum(depth_a, depth_b), strict=True):
                if near > 0:
                    # the canvas holds colours multiplied by their cover, so that averaging it is right
                    shown = [c * color[3] / 255 for c in color[:3]]
                    self._pygame.draw.polygon(self._canvas, (*shown, color[3]), quad)


def props_of(cast: Cast, detail: int) -> Props:
    """The convex parts of all bodies of a cast."""
    colors = look.linear(cast.colors)
    out = Props(*([] for _ in range(11)), [0], [0], ([], [], []))
    for body, shape in enumerate(cast.shapes):
        for part in parts_of(shape):
            mesh, scale, turn = mesh_of(part.key, detail), np.array(part.scale), np.array(part.orientation)
            corners = mesh.corners * scale
            middles = np.reshape([corners[list(face)].mean(axis=0) for face in mesh.faces], (-1, 3))
            normals = rotate(turn, np.reshape([_normal(corners[list(face)]) for face in mesh.faces], (-1, 3)))
            centers = rotate(turn, middles) + part.position
            tone = np.where(mesh.marked(), look.MARK, 1.0)
            lines = {frozenset(edge) for edge in mesh.edges.tolist()}
            loops = [zip(face, face[1:] + face[:1], strict=True) for face in mesh.faces]
            out.bodies.append(body)
            out.corners.append(rotate(turn, corners) + part.position)
            out.faces.append(list(mesh.faces))
            out.lined.append([[(min(e), max(e)) for e in loop if frozenset(e) in lines] for loop in loops])
            out.centers.append(centers)
            out.normals.append(normals)
            out.smooth.append(rotate(turn, _unit(np.reshape([n.mean(axis=0) for n in mesh.normals], (-1, 3)) / scale)))
            out.offsets.append(np.einsum("ij,ij->i", normals, centers))
            if cast.finish(body) == RELIEF:
                out.albedo.append(corner_colors(part.key[1]).reshape(-1, 3, 3).mean(axis=1))
            else:
                out.albedo.append(colors[body] * tone[:, None])
            out.tones.append(tone)
            out.lines.append(255 * np.sqrt(colors[body] * look.EDGE * look.EXPOSURE))
            out.corner_at.append(out.corner_at[-1] + len(corners))
            out.face_at.append(out.face_at[-1] + len(mesh.faces))
            for kept, found in zip(out.rough, _rough(part), strict=True):
                kept.append(found)
    for name in ("corners", "centers", "normals", "smooth", "albedo", "lines"):
        setattr(out, name, np.concatenate([np.reshape(v, (-1, 3)) for v in [*getattr(out, name), np.zeros((0, 3))]]))
    out.offsets, out.tones = (np.concatenate([*rows, np.zeros(0)]) for rows in (out.offsets, out.tones))
    for name in ("bodies", "corner_at", "face_at"):
        setattr(out, name, np.array(getattr(out, name), int))
    out.rough = tuple(_even(rows, fill) for rows, fill in zip(out.rough, (None, 0.0, np.inf), strict=True))
    return out


def _rough(part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners, face normals and offsets in the body of a part, with few faces: enough to find a plane between two parts."""
    mesh = mesh_of(part.key, 8)
    if len(mesh.faces) > MANY or not mesh.faces:  # the box around it
        lo, hi = mesh.corners.min(axis=0), mesh.corners.max(axis=0)
        box = mesh_of(("box",))
        corners, faces = 0.5 * (lo + hi) + 0.5 * (hi - lo) * box.corners, box.faces
    else:
        corners, faces = mesh.corners, mesh.faces
    corners = rotate(np.array(part.orientation), corners * part.scale) + part.position
    normals = np.array([_normal(corners[list(face)]) for face in faces])
    offsets = np.array([n @ corners[list(face)].mean(axis=0) for n, face in zip(normals, faces, strict=True)])
    return corners, normals, np.where(np.linalg.norm(normals, axis=1) > 0.5, offsets, np.inf)


def _even(rows: list[np.ndarray], fill: float | None) -> np.ndarray:
    """Rows of unlike lengths as one array, the short ones filled up (None: with their first entry)."""
    most = max(map(len, rows), default=0)
    grown = [np.concatenate([r, np.broadcast_to(r[:1] if fill is None else fill, (most - len(r), *r.shape[1:]))]) for r in rows]
    return np.array(grown) if grown else np.zeros((0, 0, 3) if fill != np.inf else (0, 0))


def _normal(points: np.ndarray) -> np.ndarray:
    """Unit normal of a flat polygon (Newell's sum, which repeated corners do not hurt)."""
    n = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    return n / max(np.linalg.norm(n), 1e-300)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)


def _outline(points: np.ndarray) -> np.ndarray:
    """Convex hull of (n, 2) points in order (Andrew's monotone chain)."""
    points = sorted(map(tuple, points.tolist()))
    halves = []
    for run in (points, points[::-1]):
        chain: list[tuple[float, float]] = []
        for p in run:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2], chain[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                chain.pop()
            chain.append(p)
        halves += chain[:-1]
    return np.array(halves)
