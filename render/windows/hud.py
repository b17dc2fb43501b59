"""What the window lays over its picture: keys, the state of a body, the time line of a recording."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.render.frames.frame import Frame
from tumble.render.text import Panel, inked, pixels_of, text_block, veil
from tumble.render.windows.sliders import draw_slider

KEYS = {
    "1": "contacts", "2": "normals", "3": "manifolds", "i": "impacts", "4": "boxes", "5": "pairs", "6": "axes", "7": "velocity",
    "8": "angular_velocity", "l": "angular_momentum", "9": "polhode", "0": "trails", "n": "names", "j": "joints",
    "z": "sleeping", "e": "energy", "m": "momentum", "k": "ledger", "t": "text",
}  # fmt: skip
HELP = (
    "Space\tpause, go on",
    ".  ,\tone step; in a recording forward, back",
    "[  ]  \\\tslower, faster, real time",
    "Home  End\tin a recording: first, last",
    "R\treset",
    "left button on a body\tpick; drag it by a spring",
    "left elsewhere, or middle\torbit",
    "right, or Shift left\tpan",
    "wheel\tzoom",
    "F\tfollow the picked body, stop following",
    "C\tsee all",
    "B   Tab\tdrop a body at the mouse; another kind",
    "O\tthrow a ball at the mouse",
    "S\tsliders of the parameters: let go, and it starts anew",
    "P   V\tpicture; film, end of film",
    "H\tthese keys",
    "Q, Esc\tquit",
)


class TimeLine(NamedTuple):
    """Where the time line is in a picture of some size [pixels]."""

    left: int
    right: int
    top: int
    height: int

    @classmethod
    def of(cls, size: tuple[int, int]) -> TimeLine:
        unit = size[1] / 720
        return cls(round(220 * unit), size[0] - round(60 * unit), size[1] - round(44 * unit), round(26 * unit))

    def holds(self, pixel: tuple[float, float]) -> bool:
        pad = self.height // 2
        return self.left - pad <= pixel[0] <= self.right + pad and self.top - pad <= pixel[1] <= self.top + self.height + pad

    def share(self, x: float) -> float:
        return float(np.clip((x - self.left) / (self.right - self.left), 0.0, 1.0))


def time_line(size: tuple[int, int], share: float) -> Panel:
    """A bar with a handle at a share of its length."""
    at = TimeLine.of(size)
    pad = at.height // 2
    surface = veil((at.right - at.left + 2 * pad, at.height), pad)
    x, ends = pad + round(share * (at.right - at.left)), (pad, pad + at.right - at.left)
    draw_slider(surface, ends, x, at.height // 2, max(at.height // 6, 2), round(0.32 * at.height))
    return Panel(pixels_of(surface), at.left - pad, at.top)


def help_panel(size: tuple[int, int]) -> Panel:
    """All keys, in the middle of the picture."""
    overlays = "   ".join(f"{key.upper()} {name.replace('_', ' ')}" for key, name in KEYS.items())
    words, rows = overlays.split("   "), []
    for k in range(0, len(words), 4):
        rows.append(("overlays" if k == 0 else "") + "\t" + "   ".join(words[k : k + 4]))
    block = text_block(inked([*HELP, *rows]), round(19 * size[1] / 720), 240)
    return Panel(block, max((size[0] - block.shape[1]) // 2, 0), max((size[1] - block.shape[0]) // 2, 0))


def state_panel(frame: Frame, body: int, size: tuple[int, int], scales: int = 0) -> Panel:
    """What is known of a body, in the lower left corner, above so many scales of arrows."""
    cast = frame.cast
    vector = lambda v: "  ".join(f"{c + 0.0:.4g}" for c in v)  # noqa: E731
    rows = [f"{cast.names[body]}\t{cast.kinds[body]} {type(cast.shapes[body]).__name__.lower()}"]
    rows.append(f"position [m]\t{vector(frame.positions[body])}")
    rows.append(f"orientation wxyz\t{vector(frame.orientations[body])}")
    if frame.velocities is not None:
        v, w = frame.velocities[body], frame.angular_velocities[body]
        rows += [f"velocity [m/s]\t{vector(v)}", f"ang. velocity [rad/s]\t{vector(w)}"]
        if cast.dynamic[body]:
            mass, spin = cast.masses[body], frame.angular_momenta()[body]
            rows += [f"mass [kg]\t{mass:.4g}", f"ang. momentum [kg m²/s]\t{vector(spin)}"]
            rows.append(f"kinetic energy [J]\t{0.5 * mass * float(v @ v):.4g} + {0.5 * float(w @ spin):.4g} of spin")
    if frame.contacts is not None:
        sign = np.where(frame.contacts.bodies[:, 1] == body, 1.0, -1.0) * (frame.contacts.bodies == body).any(axis=1)
        force = (sign[:, None] * frame.contacts.forces).sum(axis=0)
        rows.append(f"contacts\t{int(np.abs(sign).sum())}, force [N]  {vector(force)}")
    if frame.asleep is not None and frame.asleep[body]:
        rows.append("asleep\t")
    unit = size[1] / 720
    block = text_block(inked(rows), round(18 * unit))
    below = 70 + 26 * scales + (10 if scales else 0)
    return Panel(block, round(18 * unit), size[1] - block.shape[0] - round(below * unit))
