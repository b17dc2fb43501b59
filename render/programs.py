"""The shaders of a renderer, compiled, and their uniforms by name."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from render import look
from render.errors import RenderError

NAMES = (
    "body", "curved", "facet", "depth", "edge", "floor", "plain", "level floor", "level plain", "sky", "smooth", "stroke",
    "panel",
)  # fmt: skip
VARIANTS = {  # of the same sources: curved, but without a mark; level, seen from above; plain: without shadows
    "curved": ("body", "UNMARKED"),
    "plain": ("floor", "PLAIN"),
    "level floor": ("floor", "LEVEL"),
    "level plain": ("floor", "LEVEL", "PLAIN"),
}
SCREEN = ("floor", "plain", "level floor", "level plain", "sky", "smooth", "panel")  # drawn as one rectangle
CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], "f4")


class Programs:
    """All programs of a preset: ``programs[name]``; those of ``SCREEN`` are drawn by :meth:`render`."""

    def __init__(self, context: Any, preset: look.Preset, size: tuple[int, int]):
        self._context = context
        self._made = {name: self._compile(name, preset) for name in NAMES}
        self._corners = context.buffer(CORNERS.tobytes())
        self._screen = {name: context.vertex_array(self[name], [(self._corners, "2f", "in_corner")]) for name in SCREEN}
        light = {
            "u_sun": look.SUN,
            "u_sun_light": look.SUN_LIGHT,
            "u_sky_light": look.SKY_LIGHT,
            "u_ground_light": look.GROUND_LIGHT,
            "u_exposure": look.EXPOSURE,
            "u_zenith": look.ZENITH,
            "u_size": size,
            "u_darken": look.EDGE,
            "u_width": 1.9 * size[1] / 720,
            "u_softness": preset.softness,
            "u_mark": look.MARK,
        }
        self.set_all(**light)
        for program in self._made.values():
            for sampler in ("u_shadow", "u_picture"):
                if sampler in program:
                    program[sampler].value = 0

    def __getitem__(self, name: str) -> Any:
        return self._made[name]

    def set(self, name: str, **values: Any) -> None:
        """Uniforms by name; those a program does not use are left out by its compiler and skipped here."""
        found = self._made[name]
        for uniform, value in values.items():
            if uniform in found:
                value = np.asarray(value, "f4")
                found[uniform].write(np.ascontiguousarray(value.T if value.shape == (4, 4) else value).tobytes())

    def set_all(self, **values: Any) -> None:
        for name in self._made:
            self.set(name, **values)

    def render(self, name: str) -> None:
        self._screen[name].render(self._context.TRIANGLE_STRIP)

    def release(self) -> None:
        for thing in (*self._screen.values(), self._corners, *self._made.values()):
            thing.release()

    def _compile(self, name: str, preset: look.Preset) -> Any:
        folder = files("render") / "shaders"
        source, *defined = VARIANTS.get(name, (name,))
        defines = "".join(["#version 330 core\n", *(f"#define {x}\n" for x in (f"TAPS {preset.taps}", *defined))])

        def text(file: str) -> str:
            lines = (folder / file).read_text(encoding="utf-8").splitlines()
            return "\n".join(text(x.split('"')[1]) if x.startswith("#include") else x for x in lines)

        shaders = {"vertex_shader": defines + text(f"{source}.vert"), "fragment_shader": defines + text(f"{source}.frag")}
        try:
            return self._context.program(**shaders)
        except Exception as error:  # moderngl raises its own: the driver does not take what the standard allows
            raise RenderError(f"the OpenGL driver refuses the shader {name}: {' '.join(str(error).split())}") from error
