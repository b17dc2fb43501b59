"""The parts of all bodies by what they share, mesh and finish: one draw call each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.frames.frame import Cast, Frame
from tumble.render.frames.overlay import shades
from tumble.render.meshes.meshes import mesh_of, parts_of
from tumble.render.meshes.visuals import Skin
from tumble.render.opengl.programs import Programs
from tumble.render.rotation import multiply, rotate
from tumble.sim.scene.visual import RELIEF

QUAD = np.array([[0, -1], [1, -1], [0, 1], [1, 1]], "f4")  # (end, side) of a stroke
LINE = np.array([[0, 0], [1, 0]], "f4")
ROUND = ("ball", "cylinder", "cone", "capsule")
FINER = (*ROUND, "rounded")  # cut finer where they are larger in the picture
INSTANCE = "3f 4f 3f 4f/i"
EDGE_NAMES = ("in_a", "in_b", "in_normal_a", "in_normal_b", "in_corner")
INSTANCE_NAMES = ("i_position", "i_rotation", "i_scale", "i_color")
MANY, USUAL = 300, 2.0  # a crowd: at least so many parts, none larger than so many times the usual size
SMALL = 40.0  # pixels: radius of parts of a crowd whose faces are even but for shadows
STILL = (1.0, 0.0, 0.0, 0.0)


@dataclass(eq=False)
class Group:
    """Parts that share a mesh and a finish."""

    key: tuple
    finish: str
    skin: Skin | None  # what is drawn instead of the mesh
    rows: np.ndarray  # (k,) body of each part
    positions: np.ndarray  # (k, 3), in the body
    orientations: np.ndarray  # (k, 4)
    scales: np.ndarray  # (k, 3)
    colors: np.ndarray  # (k, 4) linear light, and the body's radius
    placed: bool  # some part is moved or turned in its body
    crowd: bool  # so many, and none much larger than most
    instances: Any = None  # buffer
    texture: Any = None
    detail: int = 0
    topped: bool = False  # a crowd of what is the same upside down
    small: bool = False  # of a crowd, none of which is large in this picture
    arrays: dict[tuple[str, int], Any] = field(default_factory=dict)  # by use and detail

    @property
    def soft(self) -> bool:
        """Some of its outline may have no edge line."""
        return self.skin is not None or mesh_of(self.key, 16).soft


class Groups:
    """All groups of a cast on a GL context. :meth:`take` a cast, :meth:`place` a frame, :meth:`draw`."""

    def __init__(self, context: Any, programs: Programs, detail: int, by_lines: bool = False):
        self._gl, self._programs, self._most, self._by_lines = context, programs, detail, by_lines
        self.cast: Cast | None = None
        self.all: list[Group] = []
        self.soft = np.zeros(0, bool)  # (n,) bodies whose outline has stairs

    def take(self, cast: Cast) -> None:
        """Sort the parts of all bodies, once a cast."""
        if cast is self.cast:
            return
        self.release()
        self.cast = cast
        colors, radii = look.linear(cast.colors), np.nan_to_num(cast.balls[1], nan=0.0)
        found: dict[tuple, list] = {}
        for body, shape in enumerate(cast.shapes):
            finish, skins = cast.finish(body), cast.skins(body)
            if skins is not None:
                for k, skin in enumerate(skins):
                    found.setdefault((("skin", cast.skin_key(body), k), finish), []).append((body, None, skin))
                continue
            for part in parts_of(shape):
                found.setdefault((part.key, finish), []).append((body, part, None))
        self.soft = np.zeros(len(cast), bool)
        usual = USUAL * np.median(radii[radii > 0.0]) if (radii > 0.0).any() else 0.0
        for (key, finish), members in found.items():
            rows, skin = np.array([body for body, _, _ in members]), members[0][2]
            tint = colors[rows] if skin is None or skin.color is None else np.tile(skin.color, (len(rows), 1))
            if skin is None:
                parts = [part for _, part, _ in members]
                positions, orientations = (np.array([getattr(p, n) for p in parts], float) for n in ("position", "orientation"))
                scales = np.array([p.scale for p in parts], float)
            else:
                positions, orientations, scales = (np.tile(v, (len(rows), 1)) for v in (np.zeros(3), STILL, np.ones(3)))
            placed = bool(positions.any() or (orientations != STILL).any())
            buffer = self._gl.buffer(reserve=14 * 4 * len(rows), dynamic=True)
            tint = np.concatenate([tint, radii[rows, None]], axis=1)
            crowd = len(rows) >= MANY and bool(radii[rows].max() <= usual)
            group = Group(key, finish, skin, rows, positions, orientations, scales, tint, placed, crowd, buffer)
            group.topped = crowd and skin is None and mesh_of(key, 16).even
            self.soft[rows] |= group.soft
            self.all.append(group)

    def release(self) -> None:
        for group in self.all:
            for thing in (*group.arrays.values(), group.instances, group.texture):
                if thing is not None:
                    thing.release()
        self.all, self.cast = [], None

    def place(self, frame: Frame, camera: Camera, overlays: tuple[str, ...], height: int) -> None:
        """Poses of all parts to the instance buffers, relative to the camera's target; ``height`` of the picture [pixels]."""
        focal = camera.focal(height)
        base, eye = frame.positions - np.asarray(camera.target), np.subtract(camera.position, camera.target)
        others, there = shades(frame, overlays), frame.present
        for group in self.all:
            x, q = base[group.rows], frame.orientations[group.rows]
            if group.placed:
                x, q = x + rotate(q, group.positions), multiply(q, group.orientations)
            if not there.all():
                x = np.where(there[group.rows, None], x, 2.0 * eye)  # removed: behind the eye
                q = np.where(there[group.rows, None], q, STILL)
            tint = group.colors if others is None else np.concatenate([others[group.rows], group.colors[:, 3:]], axis=1)
            rows = np.concatenate([x, q[:, 1:], q[:, :1], group.scales, tint], axis=1)
            if len(rows) > 1:  # the nearest first: what they hide need not be lit
                rows = rows[np.argsort(np.einsum("ij,ij->i", x - eye, x - eye), kind="stable")]
            group.instances.write(rows.astype("f4").tobytes())
            if group.crowd:
                away = np.maximum(np.linalg.norm(x - eye, axis=1), 1e-9)
                group.small = bool(focal * (group.colors[:, 3] / away).max() < SMALL)
            if group.key[0] in FINER:
                away = np.maximum(np.linalg.norm(x - eye, axis=1), 0.02 * camera.distance)
                pixels = focal * (group.scales.max(axis=1) / away).max()
                group.detail = int(np.clip(4 * np.ceil(pixels**0.5), 12, self._most) // 4 * 4)

    def draw(self, use: str, of: Callable[[Group], bool] = lambda group: True) -> None:
        """Draw the groups: ``surface``, ``depth``, ``heights`` or ``edges``."""
        for group in self.all:
            if not of(group):
                continue
            coarse = use in ("depth", "heights")  # an outline is all that is seen of it
            detail = max(group.detail * 2 // 3 // 4 * 4, min(group.detail, 12)) if coarse else group.detail
            array = self._array(group, "small" if use == "surface" and group.small else use, detail)
            if array is not None:
                if use == "surface" and group.skin is not None:
                    self._dress(group)
                array.render(instances=len(group.rows))

    def _array(self, group: Group, use: str, detail: int) -> Any:
        if (use, detail) not in group.arrays:
            if use == "edges":
                group.arrays[use, detail] = self._edges(group, detail)
            else:
                made = self._surfaces(group, detail)
                group.arrays |= {(name, detail): array for name, array in made.items()}
        return group.arrays[use, detail]

    def _surfaces(self, group: Group, detail: int) -> dict[str, Any]:
        """Vertex arrays of the surface, and of the same for the maps."""
        ctx, skin = self._gl, group.skin
        mesh = mesh_of(group.key, detail) if skin is None else None
        points, normals, triangles = mesh.triangles() if skin is None else (skin.points, skin.normals, skin.triangles)
        if not len(triangles):
            return dict.fromkeys(("surface", "small", "depth", "heights"))
        index = ctx.buffer(triangles.astype("i4").tobytes())
        corners = ctx.buffer(np.concatenate([points, normals], axis=1).astype("f4").tobytes())
        instances = (group.instances, INSTANCE, *INSTANCE_NAMES)
        content = [(corners, "3f 3f", "in_position", "in_normal"), instances]
        if skin is not None and skin.picture is not None:
            content.append((ctx.buffer(skin.places.astype("f4").tobytes()), "2f", "in_place"))
        name = self._program(group, mesh)
        out = {"surface": ctx.vertex_array(self._programs[name], content, index)}
        out["small"] = ctx.vertex_array(self._programs[f"{name} SMALL"], content, index) if name == "facet" else out["surface"]
        thin = (group.instances, "3f 4f 3f 4x4/i", *INSTANCE_NAMES[:3])
        places, which = np.unique(points.astype("f4"), axis=0, return_inverse=True)  # corners once, not once for each normal
        corners, index = ctx.buffer(places.tobytes()), ctx.buffer(which[triangles].astype("i4").tobytes())
        heights = "heights EVEN" if group.topped else "heights"
        for use, name in (("depth", "depth GLASS" if group.finish == "glass" else "depth"), ("heights", heights)):
            out[use] = ctx.vertex_array(self._programs[name], [(corners, "3f", "in_position"), thin], index)
        return out

    def _program(self, group: Group, mesh: Any) -> str:
        """Flat plain faces are lit at their corners, where they need not be lit pixel by pixel."""
        finish = "" if group.finish in ("plain", RELIEF) else f" {group.finish.upper()}"
        if group.skin is not None:
            return f"body UNMARKED{finish}{' TEXTURED' if group.skin.picture is not None else ''}"
        if group.key[0] in ROUND:
            return f"body{finish}"
        flat = not mesh.curved and not finish and not self._programs.gathered
        return "facet" if flat else f"body UNMARKED{finish}"

    def _edges(self, group: Group, detail: int) -> Any:
        """Vertex array of the edge lines: a quad or a line for each. Glass has none: they would be seen through it."""
        ctx = self._gl
        if group.skin is not None or group.finish == "glass":
            return None
        mesh = mesh_of(group.key, detail)
        if not len(mesh.edges):
            return None
        m = len(mesh.edges)
        ends = np.concatenate([mesh.corners[mesh.edges].reshape(m, 6), mesh.beside().reshape(m, 6)], axis=1)
        corners, order, mode = (LINE, (0, 1), ctx.LINES) if self._by_lines else (QUAD, (0, 1, 2, 2, 1, 3), ctx.TRIANGLES)
        each = np.concatenate([np.repeat(ends, len(corners), axis=0), np.tile(corners, (m, 1))], axis=1)
        index = (len(corners) * np.arange(m)[:, None] + order).astype("i4")
        content = [
            (ctx.buffer(each.astype("f4").tobytes()), "3f 3f 3f 3f 2f", *EDGE_NAMES),
            (group.instances, INSTANCE, *INSTANCE_NAMES),
        ]
        return ctx.vertex_array(self._programs["edge"], content, ctx.buffer(index.tobytes()), mode=mode)

    def _dress(self, group: Group) -> None:
        """The picture on a skin, for the surface to be drawn with."""
        picture = group.skin.picture
        if picture is None:
            return
        if group.texture is None:
            h, w = picture.shape[:2]
            group.texture = self._gl.texture((w, h), 3, np.ascontiguousarray(picture[::-1]).tobytes(), alignment=1)
            if min(h, w) > 16:
                group.texture.build_mipmaps()
                group.texture.filter = self._gl.LINEAR_MIPMAP_LINEAR, self._gl.LINEAR
            else:
                group.texture.filter = self._gl.NEAREST, self._gl.NEAREST  # a table of colours
        group.texture.use(5)
