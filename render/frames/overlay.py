"""What is drawn over the bodies to explain them, by name. Plain data for any renderer."""

from __future__ import annotations

import numpy as np

from tumble.collision.errors import InputError
from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.frames import marks
from tumble.render.frames.frame import Cast, Frame
from tumble.render.frames.graphs import panels as graph_panels
from tumble.render.frames.strokes import Strokes
from tumble.render.text import INK, Line, Panel, bars_block, inked, length, text_block

OVERLAYS = (
    "text", "joints", "contacts", "normals", "manifolds", "impacts", "boxes", "pairs", "axes", "trails", "velocity",
    "angular_velocity", "angular_momentum", "polhode", "names", "sleeping", "energy", "momentum", "ledger",
)  # fmt: skip
OF_CONTACTS = ("contacts", "normals", "manifolds")
OF_BOOKS = ("energy", "momentum", "ledger")
ASLEEP = look.linear(np.array(look.rgb("#7d8794")))


def check(overlays: object, cast: Cast) -> tuple[str, ...]:
    """The overlays asked for, by name; None: text, joints, and trails in free space, where nothing else shows the way gone."""
    if overlays is None:
        return ("text", "joints") if cast.has_floor else ("text", "joints", "trails")
    return known(overlays)


def known(overlays: object) -> tuple[str, ...]:
    """Names of overlays. InputError where one is none."""
    wanted = (overlays,) if isinstance(overlays, str) else tuple(overlays)
    for name in wanted:
        if name not in OVERLAYS:
            raise InputError("overlays", name, f"must be of {', '.join(OVERLAYS)}")
    return wanted


def strokes_of(frame: Frame, camera: Camera, overlays: tuple[str, ...], size: tuple[int, int]) -> list[Strokes]:
    """The strokes of a frame."""
    unit = size[1] / 720  # line widths are made for a picture of this height
    touching = frame.contacts is not None and len(frame.contacts.points) > 0
    out = []

    def add(name: str, there: bool, make, *arguments, xray: bool = True) -> None:
        if name in overlays and there:
            out.append(Strokes(make(frame, *arguments, unit), xray))

    add("trails", bool(frame.trails), marks.trails, xray=False)
    add("boxes", True, marks.boxes, xray=False)
    add("pairs", True, marks.pairs)
    add("axes", True, marks.axes, camera)
    for name in marks.ARROWS:
        if not (name == "angular_velocity" and "polhode" in overlays):  # it comes with that
            add(name, frame.velocities is not None, marks.body_arrows, camera, name)
    add("polhode", bool(frame.traces), marks.spins, camera)
    if "joints" in overlays and len(frame.joints):
        out.append(Strokes(marks.joints(frame.joints, unit), True))
    add("manifolds", touching, marks.manifolds)
    add("contacts", touching, marks.contacts, camera)
    add("normals", touching, marks.normals, camera)
    add("impacts", bool(frame.impacts), marks.impacts, camera)
    if frame.pull is not None:
        out.append(Strokes(marks.pull(frame, unit), True))
    kept = (Strokes(s.rows[np.isfinite(s.rows).all(axis=1)], s.xray) for s in out)  # none at bodies that were removed
    return [s for s in kept if len(s.rows)]


def panels_of(
    frame: Frame, camera: Camera, overlays: tuple[str, ...], size: tuple[int, int], square: float | None
) -> list[Panel]:
    """Texts and graphs of a frame; ``square`` [m] is the width of the floor's squares, None where there is no floor."""
    unit = size[1] / 720
    out = []
    margin = round(18 * unit)
    if "text" in overlays:
        lines = (*inked(frame.lines), *legend(frame, overlays))
        if lines:
            out.append(Panel(text_block(lines, round(22 * unit)), margin, margin))
        if square is not None:
            note = text_block(inked([f"squares of {length(square)}"]), round(19 * unit))
            out.append(Panel(note, margin, size[1] - margin - note.shape[0]))
        bars = scale_bars(frame, camera, overlays, size, unit)
        if bars is not None:
            out.append(Panel(bars, margin, (out[-1].top if square is not None else size[1]) - margin // 2 - bars.shape[0]))
    if "names" in overlays:
        pixels, depth = camera.project(frame.centers_of_mass(), size)
        for name, pixel, away, radius in zip(frame.cast.names, pixels, depth, frame.balls()[1], strict=True):
            if away > 0 and np.isfinite(radius) and 0 <= pixel[0] < size[0] and 0 <= pixel[1] < size[1]:
                label = text_block(((name, INK),), round(17 * unit))
                out.append(Panel(label, int(pixel[0]) - label.shape[1] // 2, int(pixel[1]) - label.shape[0] // 2))
    if frame.graphs is not None:
        out += graph_panels(frame.graphs, frame.time, overlays, size)
    return [p for p in out if p.pixels.size]


def legend(frame: Frame, overlays: tuple[str, ...]) -> list[Line]:
    """A line for each kind of mark, in its colour."""
    out = []
    for name, color in marks.ARROWS.items():
        if name in overlays or (name == "angular_velocity" and "polhode" in overlays):
            out.append((name.replace("_", " "), color))
    if "polhode" in overlays:
        out += [("polhode (in the body)", marks.POLHODE), ("herpolhode (in space)", marks.HERPOLHODE)]
    if "contacts" in overlays and frame.contacts is not None:
        forces = np.linalg.norm(frame.contacts.forces, axis=1)
        most = f", largest {forces.max():.3g} N" if len(forces) else ""
        out.append((f"contact forces{most}", tuple(marks.CONTACT)))
    if "impacts" in overlays:
        most = max((float(np.linalg.norm(hit.impulse)) for hit in frame.impacts), default=None)
        out.append(("impacts" if most is None else f"impacts, largest {most:.3g} N s", marks.IMPACT))
    for name, text, color in (
        ("normals", "normals", marks.NORMAL),
        ("manifolds", "manifolds", marks.MANIFOLD),
        ("boxes", "bounding boxes", marks.BOX),
        ("pairs", "candidate pairs", marks.PAIR),
    ):
        if name in overlays:
            out.append((text, color))
    if "axes" in overlays:
        which = ("least", "middle", "largest")
        out += [(f"axis of {one} inertia", color) for one, color in zip(which, marks.AXES, strict=True)]
    return out


def scale_bars(frame: Frame, camera: Camera, overlays: tuple[str, ...], size: tuple[int, int], unit: float) -> np.ndarray | None:
    """How long an arrow of a round value is, for forces and impulses, as (h, w, 4); None where there is none to tell of."""
    rows = []
    focal = camera.focal(size[1])
    for name, unit_name, color, there in (
        ("contacts", "N", tuple(marks.CONTACT), frame.contacts is not None),
        ("impacts", "N s", marks.IMPACT, True),
    ):
        most = marks.scale_of(frame, name) if name in overlays and there else 0.0
        if most > 0.0:
            value = float(round_below(most))
            rows.append((f"{value:g} {unit_name}", color, marks.LONGEST * focal * value / most))
    return bars_block(tuple(rows), round(19 * unit)) if rows else None


def round_below(value: float) -> float:
    """The largest 1, 2 or 5 times a power of ten that is not above a value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(
        next(round(m * power, 12) if power >= 1e-9 else m * power for m in (5, 2, 1) if m * power <= value * (1 + 1e-12))
    )


def shades(frame: Frame, overlays: tuple[str, ...]) -> np.ndarray | None:
    """(n, 3) colours of the bodies in linear light where some do not have their own: asleep, or picked. None: all their own."""
    asleep = frame.asleep if "sleeping" in overlays and frame.asleep is not None and frame.asleep.any() else None
    if asleep is None and frame.picked is None:
        return None
    colors = look.linear(frame.cast.colors)
    if asleep is not None:
        colors[asleep] = 0.2 * colors[asleep] + 0.5 * ASLEEP
    if frame.picked is not None:
        colors[frame.picked] = 0.55 * colors[frame.picked] + 0.45
    return colors


def square_of(camera: Camera) -> float:
    """Width [m] of the floor's squares: 1, 2 or 5 times a power of ten, a good dozen over the height of the picture."""
    if camera.square is not None:
        return camera.square
    least = 0.11 * camera.distance * camera.tangent * 2
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(round(m * power, 12) for m in (1, 2, 5, 10) if m * power >= least))
