"""What is drawn over the bodies to explain them: text, contact points, arrows, trails, names. Plain data for any renderer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from collision.errors import InputError
from render.camera import Camera
from render.frame import Cast, Frame
from render.look import rgb

OVERLAYS = ("text", "joints", "contacts", "trails", "velocity", "angular_velocity", "angular_momentum", "names")
INK = rgb("#1d2733")
ARROWS = {"velocity": rgb("#0b7a55"), "angular_velocity": rgb("#8a3ab9"), "angular_momentum": rgb("#c4161c")}
UNITS = {"velocity": "velocity", "angular_velocity": "angular velocity", "angular_momentum": "angular momentum"}
CONTACT = rgb("#d6003c")


@dataclass(frozen=True, eq=False)
class Strokes:
    """Straight strokes in the world. ``rows`` (k, 16): a (3), b (3), widths at a and b [pixels], colours at a and b (4 each)."""

    rows: np.ndarray
    xray: bool  # drawn over everything, else hidden by what stands in front


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture laid over the picture: (h, w, 4) uint8, its top left corner in pixels."""

    pixels: np.ndarray
    left: int
    top: int


def check(overlays: object, cast: Cast) -> tuple[str, ...]:
    """The overlays asked for, by name; None: text, joints, and trails in free space, where nothing else shows the way gone."""
    if overlays is None:
        return ("text", "joints") if cast.has_floor else ("text", "joints", "trails")
    wanted = (overlays,) if isinstance(overlays, str) else tuple(overlays)
    for name in wanted:
        if name not in OVERLAYS:
            raise InputError("overlays", name, f"must be of {', '.join(OVERLAYS)}")
    return wanted


def strokes_of(frame: Frame, camera: Camera, overlays: tuple[str, ...], size: tuple[int, int]) -> list[Strokes]:
    """The strokes of a frame."""
    unit = size[1] / 720  # line widths are made for a picture of this height
    out = []
    if "trails" in overlays and frame.trails:
        out.append(Strokes(np.concatenate([_trail(path, frame.cast.colors[b], unit) for b, path in frame.trails]), False))
    for name, color in ARROWS.items():
        if name in overlays:
            out.append(Strokes(_body_arrows(frame, camera, name, color, unit), True))
    if "joints" in overlays and len(frame.joints):
        out.append(Strokes(_joints(frame.joints, unit), True))
    if "contacts" in overlays and frame.contacts is not None and len(frame.contacts.points):
        out.append(Strokes(_contacts(frame, camera, unit), True))
    return [s for s in out if len(s.rows)]


def panels_of(
    frame: Frame, camera: Camera, overlays: tuple[str, ...], size: tuple[int, int], square: float | None
) -> list[Panel]:
    """The texts of a frame; ``square`` [m] is the width of the floor's squares, None where there is no floor."""
    unit = size[1] / 720
    out = []
    if "text" in overlays:
        margin = round(18 * unit)
        lines = [(text, INK) for text in frame.lines]
        lines += [(UNITS[name], color) for name, color in ARROWS.items() if name in overlays]
        if "contacts" in overlays:
            lines.append(("contact forces", CONTACT))
        if lines:
            out.append(Panel(text_block(tuple(lines), round(22 * unit)), margin, margin))
        if square is not None:
            note = text_block(((f"squares of {length(square)}", INK),), round(19 * unit))
            out.append(Panel(note, margin, size[1] - margin - note.shape[0]))
    if "names" in overlays:
        pixels, depth = camera.project(frame.centers_of_mass(), size)
        for name, pixel, away, radius in zip(frame.cast.names, pixels, depth, frame.balls()[1], strict=True):
            if away > 0 and np.isfinite(radius) and 0 <= pixel[0] < size[0] and 0 <= pixel[1] < size[1]:
                label = text_block(((name, INK),), round(17 * unit))
                out.append(Panel(label, int(pixel[0]) - label.shape[1] // 2, int(pixel[1]) - label.shape[0] // 2))
    return [p for p in out if p.pixels.size]


@lru_cache(maxsize=128)
def text_block(lines: tuple[tuple[str, tuple[float, float, float]], ...], height: int) -> np.ndarray:
    """Lines of text with their colours on a light veil with round corners, (h, w, 4) uint8."""
    import pygame

    height = max(height, 8)
    drawn = [_line(text, color, height) for text, color in lines]
    tall = _font(height).get_height()
    pad, step = round(0.45 * height), round(1.22 * tall)
    w, h = max(d.get_width() for d in drawn) + 2 * pad, step * (len(drawn) - 1) + tall + 2 * pad
    surface = pygame.Surface((w, h), pygame.SRCALPHA)
    pygame.draw.rect(surface, (255, 255, 255, 150), surface.get_rect(), border_radius=pad)
    for i, text in enumerate(drawn):
        surface.blit(text, (pad, pad + i * step))
    return np.frombuffer(pygame.image.tobytes(surface, "RGBA"), np.uint8).reshape(h, w, 4)


@lru_cache(maxsize=512)
def _line(text: str, color: tuple[float, float, float], height: int):
    return _font(height).render(text, True, [round(255 * c) for c in color])


@lru_cache(maxsize=16)
def _font(height: int):
    import pygame

    if not pygame.font.get_init():
        pygame.font.init()  # not pygame.init(), which wakes the sound card
    return pygame.font.Font(None, round(1.25 * height))


def length(metres: float) -> str:
    """1 m, 0.2 m, 5 mm ..."""
    if metres >= 1000:
        return f"{metres / 1000:g} km"
    return f"{metres:g} m" if metres >= 0.01 else f"{metres * 1000:g} mm"


def square_of(camera: Camera) -> float:
    """Width [m] of the floor's squares: 1, 2 or 5 times a power of ten, a good dozen over the height of the picture."""
    least = 0.11 * camera.distance * np.tan(np.radians(camera.fov_degrees) / 2) * 2
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(round(m * power, 12) for m in (1, 2, 5, 10) if m * power >= least))


def _rows(a: np.ndarray, b: np.ndarray, widths: tuple[float, float], color_a: np.ndarray, color_b: np.ndarray) -> np.ndarray:
    n = len(a)
    tile = lambda v, k: np.broadcast_to(np.asarray(v, float), (n, k))  # noqa: E731
    return np.concatenate([a, b, tile(widths, 2), tile(color_a, 4), tile(color_b, 4)], axis=1)


def _arrows(start: np.ndarray, vectors: np.ndarray, color: tuple, camera: Camera, unit: float, width: float = 4.0) -> np.ndarray:
    """Shaft and head of each arrow; the head is 18 pixels long, or half of a short arrow."""
    reach = np.linalg.norm(vectors, axis=1)
    keep = reach > 1e-9 * camera.distance
    start, vectors, reach = start[keep], vectors[keep], reach[keep]
    if not len(start):
        return np.zeros((0, 16))
    pixel = np.linalg.norm(start - camera.position, axis=1) * 2 * np.tan(np.radians(camera.fov_degrees) / 2) / 720  # m
    neck = start + vectors * (1.0 - np.minimum(18.0 * pixel / reach, 0.5))[:, None]
    ink = (*color, 0.95)
    shaft = _rows(start, neck, (width * unit, width * unit), ink, ink)
    return np.concatenate([shaft, _rows(neck, start + vectors, (3.6 * width * unit, 0.0), ink, ink)])


def _body_arrows(frame: Frame, camera: Camera, name: str, color: tuple, unit: float) -> np.ndarray:
    """Arrows at the centres of mass. Velocity: where the body is in 0.2 s. The others: the direction, up to two radii long."""
    values = {
        "velocity": lambda: 0.2 * frame.velocities,
        "angular_velocity": lambda: frame.angular_velocities,
        "angular_momentum": frame.angular_momenta,
    }[name]()
    moving = frame.cast.dynamic & np.isfinite(values).all(axis=1)
    values, start, radii = values[moving], frame.centers_of_mass()[moving], frame.balls()[1][moving]
    size = np.linalg.norm(values, axis=1)
    if name != "velocity" and len(size):
        top = {"angular_velocity": 1.5, "angular_momentum": 1.9}[name]
        soft = size / (size + 0.1 * size.max()) if size.max() > 0 else size
        values = values * (top * np.nan_to_num(radii) * soft / np.where(size > 0, size, 1.0))[:, None]
    return _arrows(start, values, color, camera, unit)


def _joints(anchors: np.ndarray, unit: float) -> np.ndarray:
    """A ring at each anchor, and a line from one to the other where they are apart."""
    a, b, dark, light = anchors[:, 0], anchors[:, 1], (*INK, 0.9), (1.0, 1.0, 1.0, 1.0)
    ends = anchors.reshape(-1, 3)
    rings = [_rows(ends, ends, (size * unit, size * unit), color, color) for size, color in ((11, dark), (5, light))]
    return np.concatenate([_rows(a, b, (2.5 * unit, 2.5 * unit), dark, dark), *rings])


def _contacts(frame: Frame, camera: Camera, unit: float) -> np.ndarray:
    """A dot at each contact and an arrow along the force on the second body; the longest is an eighth of the view."""
    found = frame.contacts
    ink = (*CONTACT, 1.0)
    dots = _rows(found.points, found.points, (8 * unit, 8 * unit), ink, ink)
    size = np.linalg.norm(found.forces, axis=1)
    most = size.max()
    if not most > 0:
        return dots
    shown = 0.08 * camera.distance * np.sqrt(size / most)
    vectors = found.forces * (shown / np.where(size > 0, size, 1.0))[:, None]
    return np.concatenate([dots, _arrows(found.points, vectors, CONTACT, camera, unit, 3.0)])


def _trail(path: np.ndarray, color: np.ndarray, unit: float) -> np.ndarray:
    n = len(path) - 1
    if n < 1:
        return np.zeros((0, 16))
    fade = np.linspace(0.0, 0.75, n + 1)
    colors = np.concatenate([np.tile(color * 0.8, (n + 1, 1)), fade[:, None]], axis=1)
    widths = unit * np.linspace(1.0, 4.0, n + 1)
    return np.concatenate([path[:-1], path[1:], widths[:-1, None], widths[1:, None], colors[:-1], colors[1:]], axis=1)
