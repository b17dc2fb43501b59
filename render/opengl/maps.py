"""Maps of the bodies as the light sees them: depths from a direction, for shadows, and outlines from above, for the open sky."""

from __future__ import annotations

from typing import Any

import numpy as np

from tumble.render.camera import Camera
from tumble.render.frames.frame import Frame
from tumble.render.opengl.groups import Groups
from tumble.render.opengl.programs import UNITS, Owner, Programs
from tumble.render.rotation import cross

HALF = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
STEP = 2.0**0.125  # widths of maps grow by this factor, so that what they show does not crawl while they follow the bodies
OUTLINES = 128  # texels along the side of the map from above
MEANS = 128  # of that of its means
WIDE = 2.8  # times the size of a body: the wider of the two means over that map
SUPPORT = 1.3  # widths of a mean beyond which it knows nothing: of four of half the width, as in open.glsl


def seen_balls(frame: Frame, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """``(centres (n, 3), radii (n,))`` [m] of the bodies that are not far out of view, relative to the camera's target."""
    centers, radii = frame.balls()
    keep = np.isfinite(radii)
    centers, radii = centers[keep] - np.asarray(camera.target), radii[keep]
    near = np.linalg.norm(centers, axis=1) - radii <= 3.0 * camera.distance
    return centers[near], radii[near]


def stepped(width: float) -> float:
    """The next width of the series."""
    return float(STEP ** np.ceil(np.log(1.04 * max(width, 1e-9)) / np.log(STEP)))


class ShadowMap(Owner):
    """Depths along a direction, read by a sampler that compares. ``unit``: of the texture."""

    def __init__(self, context: Any, texels: int, sampler: str):
        super().__init__()
        self._gl, self.unit = context, UNITS[sampler]
        self.map = self._keep(context.depth_texture((texels,) * 2))
        self.map.compare_func = "<="
        self.map.repeat_x = self.map.repeat_y = False
        self.map.filter = (context.LINEAR, context.LINEAR)
        self._target = self._keep(context.framebuffer(depth_attachment=self.map))

    def draw(
        self, groups: Groups, programs: Programs, balls: tuple[np.ndarray, np.ndarray], towards: np.ndarray, reach: float
    ) -> tuple[np.ndarray, float]:
        """``(matrix (4, 4) from places to the map, width of a texel [m])`` for light that comes from ``towards``.

        ``reach`` [texels] that the filter goes: so far off a surface its own depths must not lie.
        """
        to_map, texel = self._fit(*balls, towards)
        programs.set_all(u_sun_projection=to_map)
        self._target.use()
        gl = self._gl
        self._target.clear(depth=1.0)
        gl.enable_only(gl.DEPTH_TEST | gl.CULL_FACE)
        gl.polygon_offset = 1.5 * reach, 2.0
        border = self.map.width - 2
        self._target.scissor = 1, 1, border, border  # what lies outside of the map finds no shadow there
        groups.draw("depth")
        self._target.scissor = None
        gl.polygon_offset = 0.0, 0.0
        self.map.use(self.unit)
        return HALF @ to_map, texel

    def _fit(self, centers: np.ndarray, radii: np.ndarray, towards: np.ndarray) -> tuple[np.ndarray, float]:
        """``(matrix (4, 4) to the clip space of the map, width of a texel [m])``; it is moved by whole texels only."""
        if not len(radii):
            return np.eye(4), 1.0
        right = cross((0.0, 1.0, 0.0) if abs(towards[1]) < 0.95 else (1.0, 0.0, 0.0), towards)
        right /= np.linalg.norm(right)
        axes = np.stack([right, cross(towards, right), towards])
        seen = centers @ axes.T
        lo, hi = (seen - radii[:, None]).min(axis=0), (seen + radii[:, None]).max(axis=0)
        width = np.array([stepped(w) for w in (hi - lo)[:2]])
        texels = width / self.map.width
        middle = np.round(0.5 * (lo + hi)[:2] / texels) * texels
        depth = 1.02 * max(hi[2] - lo[2], 1e-9)
        top = 0.5 * (lo[2] + hi[2]) + 0.5 * depth
        out = np.eye(4)
        out[:2, :3] = axes[:2] * (2.0 / width)[:, None]
        out[:2, 3] = -2.0 * middle / width
        out[2, :3] = -2.0 / depth * axes[2]
        out[2, 3] = 2.0 * top / depth - 1.0
        return out, float(texels.max())


class HeightMap(Owner):
    """Outlines of the bodies from above with their tops and bottoms; its levels are means over more and more of them.

    Two smooth means are made of these, which shaders read: looked up at every pixel, their eight parts took half of the time.
    """

    def __init__(self, context: Any):
        super().__init__()
        self._gl, keep = context, self._keep
        self.map = keep(context.texture((OUTLINES,) * 2, 4))
        self.map.build_mipmaps()
        self.map.filter = context.LINEAR_MIPMAP_NEAREST, context.LINEAR
        self.map.repeat_x = self.map.repeat_y = False
        self._target = keep(context.framebuffer([self.map]))
        *self._means, self._ground = (keep(context.texture((MEANS,) * 2, parts)) for parts in (4, 4, 1))
        for texture in (*self._means, self._ground):
            texture.filter = context.LINEAR, context.LINEAR
            texture.repeat_x = texture.repeat_y = False
        self._smooth, self._open = keep(context.framebuffer(self._means)), keep(context.framebuffer([self._ground]))

    def draw(self, groups: Groups, programs: Programs, balls: tuple[np.ndarray, np.ndarray], target: np.ndarray) -> float:
        """Draw it, and tell the programs; how far beyond a body it has something to say [m]. ``target``: of the camera."""
        centers, radii = balls
        gl = self._gl
        self._target.use()
        self._target.clear()
        reach, level = 0.0, 3
        if len(radii):
            size = float(np.median(radii))
            lo, hi = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
            width = stepped(float((hi - lo)[:2].max()) + 4.0 * SUPPORT * WIDE * size)
            texel = width / OUTLINES
            level = int(np.clip(round(np.log2(WIDE * size / texel)), 3, 6))
            lods = np.array([level - 2.0, level])
            widths = texel * 2.0**lods
            reach = SUPPORT * widths[1]
            # moved by whole texels of the coarser mean, in the world: its grid stays where it is
            corner = np.round((0.5 * (lo + hi)[:2] + target[:2] - 0.5 * width) / widths[1]) * widths[1] - target[:2]
            over = (*corner, 1.0 / width, 1.0 / max(1.02 * (hi[2] - lo[2]), 1e-9))
            near = 0.75 * widths
            programs.set_all(u_over=over, u_low=lo[2], u_near=near, u_steep=1.0 / (over[3] * near), u_lods=lods - 1.0)
            gl.blend_equation, gl.blend_func = gl.MAX, (gl.ONE, gl.ONE)
            for even in (False, True):
                gl.enable_only(gl.BLEND | (gl.CULL_FACE if even else gl.NOTHING))
                groups.draw("heights", lambda group, even=even: group.finish != "glass" and group.topped == even)
            gl.blend_equation = gl.FUNC_ADD
        self.map.build_mipmaps(0, level - 1)  # the coarser levels are of no use
        self.map.filter = gl.LINEAR_MIPMAP_NEAREST, gl.LINEAR
        self.map.use(UNITS["u_heights"])
        self._smooth.use()
        self._smooth.clear()
        gl.enable_only(gl.NOTHING)
        if len(radii):
            programs.render("means")
        for mean, name in zip(self._means, ("u_around", "u_beyond"), strict=True):
            mean.use(UNITS[name])
        return reach

    def over(self, programs: Programs, level: float) -> None:
        """How much of the sky is open over a level floor; ``level`` [m] relative to the camera's target. After :meth:`draw`."""
        self._open.use()
        self._gl.enable_only(self._gl.NOTHING)
        programs.set("ground", u_level=level)
        programs.render("ground")
        self._ground.use(UNITS["u_ground"])
