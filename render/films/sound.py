"""The sound of impacts, worked out from what a run recorded of them: from impulses, sizes and finishes.

Each body rings with the tones of a free bar, 1, 2.76 and 5.40 times the lowest (Rayleigh 1877): the higher the faster its
material and the smaller it is, for as long as it rings. A harder hit is louder and, because it is shorter,
brighter. Bodies that do not move answer with a thud. What slides or rolls makes no sound.
"""

from __future__ import annotations

import numpy as np

from tumble.render.frames.frame import Cast

RATE = 48_000  # samples a second
RATIOS = np.array([1.0, 2.76, 5.40])
# speed of bending waves [m/s] that makes the lowest tone of a body, by its diameter; and for how many turns it rings
VOICES = {"plain": (180.0, 22.0), "matte": (150.0, 14.0), "rubber": (45.0, 5.0), "metal": (420.0, 220.0), "glass": (520.0, 120.0)}
THUD, THUD_TURNS = 75.0, 4.0  # Hz, of the ground
LOWEST, HIGHEST = 60.0, 9_000.0  # Hz
MOST = 3_000  # hits that are heard: the loudest
FAINT = 1e-3  # of the loudest: less is not heard
LOUD = 0.6  # loudness is this power of the impulse: a hit that is twice as hard is one and a half times as loud
ATTACK = 0.0008  # s


def soundtrack(hits: np.ndarray, cast: Cast, rows: np.ndarray, start: float, stop: float, speed: float) -> np.ndarray:
    """(n,) float32 in [-1, 1], 48000 a second, of a film from ``start`` to ``stop`` [s] of the run at ``speed``.

    ``hits``: a structured array with ``time``, ``impulse``, ``body_a`` and ``body_b``; ``rows``: of the cast for these bodies, -1
    for what is not in it. In slow motion hits come later, not lower.
    """
    out = np.zeros(max(round((stop - start) / speed * RATE), 1))
    sizes = np.linalg.norm(hits["impulse"], axis=1)
    heard = (hits["time"] >= start) & (hits["time"] < stop)
    if not heard.any() or sizes[heard].max() <= 0.0:
        return out.astype(np.float32)
    share = sizes / sizes[heard].max()
    picks = np.flatnonzero(heard & (share > FAINT))
    picks = picks[np.argsort(-share[picks], kind="stable")][:MOST]
    for k in np.sort(picks):
        first = round((hits["time"][k] - start) / speed * RATE)
        for body in (rows[hits["body_a"][k]], rows[hits["body_b"][k]]):
            tone = _tone(cast, int(body), float(share[k]))
            room = min(len(tone), len(out) - first)
            out[first : first + room] += share[k] ** LOUD * tone[:room]
    most = np.abs(out).max()
    return (np.tanh(1.2 * out / most) / np.tanh(1.2) * 0.8 if most > 0.0 else out).astype(np.float32)


def _tone(cast: Cast, body: int, share: float) -> np.ndarray:
    """What a body gives when it is hit, at full loudness."""
    moves = body >= 0 and cast.kinds[body] == "dynamic"
    if moves:
        speed, turns = VOICES[cast.finish(body)]
        lowest = speed / (2.0 * float(np.nan_to_num(cast.balls[1][body], nan=0.5)))
    else:
        lowest, turns = THUD, THUD_TURNS
    pitches = np.clip(lowest * RATIOS, LOWEST, HIGHEST)
    length = min(3.0 * turns / pitches[0], 2.0)  # s, until it is a thousandth and less
    t = np.arange(round(length * RATE)) / RATE
    bright = np.array([1.0, 0.6 * share**0.3, 0.35 * share**0.5])
    waves = bright[:, None] * np.exp(-2.4 * pitches[:, None] / turns * t) * np.sin(2.0 * np.pi * pitches[:, None] * t)
    return waves.sum(axis=0) * np.minimum(t / ATTACK, 1.0) * (1.0 if moves else 0.5)
