"""The same world, changed, must give the same run, seen from there: python -m benchmarks.worlds.metamorphic --seeds 0:10

Runs are compared as long as they can be told from chaos: until a third one, whose velocities start off by 1e-13 of the
fastest, is off by 1e-11 of the smallest body. Scaled by powers of two, all bits must be the same, to the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from benchmarks.worlds import draw
from benchmarks.worlds.changes import Motion, Scale, beside, shuffled
from tumble.sim import BodyDef, Scene, SimulationError
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.ledger.promises import thickness

SECONDS = 1.0
SAMPLE = 6  # steps from one comparison to the next
NUDGE, CHAOS = 1e-13, 1e-11
BAR = 1e-9  # of the smallest body, and of the fastest speed
TURN = Motion(orientation=(0.8, 0.36, -0.48, 0.0))
MIRROR = Motion(side=-1.0)
SHIFT = Motion(shift=(1e3, -2e3, 500.0))  # some 1e4 sizes
POWERS, TENS = (2.0**-20, 2.0**-10, 2.0**10, 2.0**20), (1e-6, 1e-3, 1e3, 1e6)

Back = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def _moved(motion: Motion) -> tuple[Callable[[Scene], Scene], Back]:
    m = motion.matrix
    own = np.diag([1.0, motion.side, 1.0])  # bodies are mirrored in their own frames
    return motion.scene, lambda x, r, v: ((x - motion.shift) @ m, m.T @ r @ own, v @ m)


def _scaled(scale: Scale) -> tuple[Callable[[Scene], Scene], Back]:
    speed = scale.length / scale.time
    return scale.scene, lambda x, r, v: (x / scale.length, r, v / speed)


def _same(change: Callable[[Scene], Scene]) -> tuple[Callable[[Scene], Scene], Back]:
    return change, lambda x, r, v: (x, r, v)


CHANGES: dict[str, list[tuple[Callable[[Scene], Scene], Back]]] = {
    "turned": [_moved(TURN)],
    "mirrored": [_moved(MIRROR)],
    "shifted": [_moved(SHIFT)],
    "shuffled": [_same(shuffled)],
    "beside": [_same(beside)],
    **{f"{what}, tens": [_scaled(Scale(**{what: f})) for f in TENS] for what in ("length", "mass", "time")},
    **{f"{what}, bits": [_scaled(Scale(**{what: f})) for f in POWERS] for what in ("length", "mass", "time")},
}


def nudged(scene: Scene) -> Scene:
    """The scene with velocities off by rounding, and some."""
    rng = np.random.default_rng(1)
    fastest = max(np.linalg.norm(b.velocity) for b in scene.bodies)
    change = lambda body: (  # noqa: E731
        body.replace(velocity=tuple((body.velocity + NUDGE * fastest * rng.normal(size=3)).tolist()))
        if body.kind == "dynamic"
        else body
    )
    return replace(scene, bodies=[change(body) for body in scene.bodies])


def trace(scene: Scene, names: list[str]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Positions, attitudes and velocities of these bodies at the samples, as far as the run goes."""
    world = scene.build()
    rows = [world.names.index(name) for name in names]
    out = []
    try:
        for _ in range(round(scene.duration / scene.dt) // SAMPLE):
            world.step(SAMPLE)
            out.append((world.positions[rows], rotations(world.orientations[rows]), world.velocities[rows]))
    except SimulationError:
        pass
    return out


def prepared(seed: int, seconds: float = SECONDS) -> Scene:
    """World number ``seed``, for so long; without forces on all bodies, which would act on a bystander."""
    scene = draw.world(seed)
    return replace(scene, duration=seconds, forces=[f for f in scene.forces if f.on() is not None])


def differences(scene: Scene, changes: Iterable[str], every: int = 1) -> tuple[float, dict[str, float]]:
    """(time up to which runs can be compared [s]; by change the largest difference until then).

    Of places as a part of the smallest body, of attitudes [rad], of velocities as a part of the fastest. Of scaling by powers
    of two the same at all times: 0 where all bits are the same. ``every``: 3 tries two of the four scales.
    """
    bodies: list[BodyDef] = [body for body in scene.bodies if body.kind == "dynamic"]
    names = [body.name for body in bodies]
    size = min(thickness(body.shape) for body in bodies)
    plain, twin = trace(scene, names), trace(nudged(scene), names)
    fastest = max((np.abs(v).max() for _, _, v in plain), default=1.0)

    def off(a, b) -> float:
        d = np.abs(a[0] - b[0]).max() / size, np.abs(a[1] - b[1]).max(), np.abs(a[2] - b[2]).max() / fastest
        return float(max(d))

    calm = next((k for k, (a, b) in enumerate(zip(plain, twin, strict=False)) if off(a, b) > CHAOS), min(len(plain), len(twin)))
    out = {}
    for name in changes:
        upto, worst = (len(plain) if name.endswith("bits") else calm), 0.0
        for change, back in CHANGES[name][::every]:
            other = [back(*state) for state in trace(change(scene), names)]
            missing = 0.0 if len(other) >= upto else np.inf
            worst = max([worst, missing, *(off(a, b) for a, b in zip(plain[:upto], other, strict=False))])
        out[name] = worst
    return calm * SAMPLE * scene.dt, out


def main() -> None:
    from benchmarks.worlds.__main__ import seeds

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default=range(10))
    parser.add_argument("--changes", nargs="*", default=list(CHANGES), choices=list(CHANGES))
    options = parser.parse_args()
    worst: dict[str, tuple[float, int]] = {}
    misses = dict.fromkeys(options.changes, 0)
    for seed in options.seeds:
        calm, found = differences(prepared(seed), options.changes)
        print(f"{seed:4} {calm:.3f} s  " + "  ".join(f"{name} {value:.1e}" for name, value in found.items()), flush=True)
        for name, value in found.items():
            misses[name] += value > (0.0 if name.endswith("bits") else BAR)
            worst[name] = max(worst.get(name, (-1.0, 0)), (value, seed))
    for name, (value, seed) in worst.items():
        print(f"{name:14} worst {value:.1e} in world {seed}, missed by {misses[name]} of {len(options.seeds)}")


if __name__ == "__main__":
    main()
