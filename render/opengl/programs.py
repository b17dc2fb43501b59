"""The shaders of a renderer, compiled when they are first used, and their uniforms by name; and what owns things of OpenGL."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from tumble.render import look
from tumble.render.errors import RenderError
from tumble.render.interrupts import held

UNITS = {  # of textures, by their samplers
    "u_shadow": 0, "u_picture": 1, "u_heights": 2, "u_sky_shadow": 3, "u_mirrored": 4, "u_skin": 5, "u_around": 6, "u_beyond": 7,
    "u_ground": 8,
}  # fmt: skip
CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], "f4")


class Owner:
    """What took things from a GL context, and gives them back in the end."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def _keep(self, thing: Any) -> Any:
        self._kept.append(thing)
        return thing

    def release(self) -> None:
        while self._kept:
            self._kept.pop().release()


class Programs(Owner):
    """All programs of a preset: ``programs["body METAL"]`` is body.vert and body.frag with METAL defined.

    The words that may be defined:

    MATTE, METAL, RUBBER, GLASS : the finish of a body.
    UNMARKED, TEXTURED : a body without the mark that shows its spin; one with a picture on it.
    LEVEL, PLAIN, MAPPED : a floor seen from above; one without shadows; one with a map of how much sky is open over it.
    SMALL : facets that are small in the picture.
    EVEN : heights that are told from the top alone.

    Programs that draw one rectangle are called by :meth:`render`.
    """

    def __init__(self, context: Any, preset: look.Preset, size: tuple[int, int]):
        super().__init__()
        self._context, self._preset, self.gathered, self.occluded = context, preset, preset.shots > 1, preset.occluded
        self._made: dict[str, Any] = {}
        self._uniforms: dict[str, dict[str, Any]] = {}  # of each program: asking it takes a search
        self._screen: dict[str, Any] = {}
        self._corners = self._keep(context.buffer(CORNERS.tobytes()))
        self.line_width = 1.9 * size[1] / 720  # of edges [pixels]
        self._common: dict[str, Any] = {
            "u_sun": look.SUN,
            "u_sun_light": look.SUN_LIGHT,
            "u_sky_light": look.SKY_LIGHT,
            "u_ground_light": look.GROUND_LIGHT,
            "u_exposure": look.EXPOSURE,
            "u_zenith": look.ZENITH_LIGHT if self.gathered else look.ZENITH,
            "u_horizon_light": look.HORIZON_LIGHT,
            "u_zenith_light": look.ZENITH_LIGHT,
            "u_floor_light": look.FLOOR_GLOW,
            "u_size": size,
            "u_darken": look.EDGE,
            "u_width": self.line_width,
            "u_bounced": look.BOUNCED,
            "u_mark": look.MARK,
            "u_part": 1.0 / preset.shots,
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = program = self._keep(self._compile(name))
            self._uniforms[name] = {uniform: program[uniform] for uniform in program}
            for sampler, unit in UNITS.items():
                if sampler in program:
                    program[sampler].value = unit
            self.set(name, **self._common)
        return self._made[name]

    def set(self, name: str, **values: Any) -> None:
        """Uniforms by name; those a program does not use are left out by its compiler and skipped here."""
        self[name]  # made, if it is not yet
        found = self._uniforms[name]
        for uniform, value in values.items():
            if uniform in found:
                value = np.asarray(value, "f4")
                found[uniform].write(np.ascontiguousarray(value.T if value.shape == (4, 4) else value).tobytes())

    def set_all(self, **values: Any) -> None:
        """Uniforms of all programs, those too that are yet to come."""
        self._common |= values
        for name in self._made:
            self.set(name, **values)

    def render(self, name: str) -> None:
        if name not in self._screen:
            content = [(self._corners, "2f", "in_corner")]
            self._screen[name] = self._keep(self._context.vertex_array(self[name], content))
        self._screen[name].render(self._context.TRIANGLE_STRIP)

    def _compile(self, name: str) -> Any:
        folder = files("tumble.render") / "shaders"
        source, *defined = name.split()
        defined += ["GATHERED"] * self.gathered + ["OCCLUDED"] * self._preset.occluded
        defined += ["SOFT"] * (self._preset.softness > 0.0)
        defines = "".join(["#version 330 core\n", *(f"#define {x}\n" for x in defined)])

        def text(file: str) -> str:
            lines = (folder / file).read_text(encoding="utf-8").splitlines()
            return "\n".join(text(x.split('"')[1]) if x.startswith("#include") else x for x in lines)

        before = f"{source}.vert" if (folder / f"{source}.vert").is_file() else "screen.vert"
        shaders = {"vertex_shader": defines + text(before), "fragment_shader": defines + text(f"{source}.frag")}
        try:
            with held():
                return self._context.program(**shaders)
        except Exception as error:  # moderngl raises its own: the driver does not take what the standard allows
            raise RenderError(f"the OpenGL driver refuses the shader {name}: {' '.join(str(error).split())}") from error
