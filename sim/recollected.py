"""A run recorded by the compiled step: poses, momenta and books are copied there; all else is worked out when it is asked for.

So a run that is recorded at every step costs hardly more than its steps. What is worked out has the bits that a recording by an
observer has: it is what a world answers whose state is that of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from collision.native import Call, Plain
from sim.asking import Asking
from sim.compiled import KEEP
from sim.ledger import ENTRIES
from sim.recorded_variables import VARIABLES, Moment
from sim.state import STEPS, Model
from sim.strip import Strip

if TYPE_CHECKING:
    from sim.world import World

MOST_BYTES = 250_000_000  # of a strip; longer runs of more bodies are recorded by an observer
VARYING = ("x", "q", "p", "l", "p_before", "l_before")  # of the bodies; the rest stays as it was at the start
BY_NAME = {variable.name: variable for variable in VARIABLES}


class Recollection(Asking):
    """The world as it was at one sample after the other."""

    def __init__(self, world: World):
        self.settings, self.bodies, self.joints = world.settings, [], []  # of these nothing is asked
        self._started, self._start, self._changed_at = True, world._start, None
        now = world._packed()
        kept = world._recollected  # of the run before, where the same bodies have the same properties
        if kept is None or kept[0] is not now.bodies or kept[1] is not world.scene or (kept[2].kind != now.bodies.kind).any():
            columns = zip(now.bodies._fields, now.bodies, strict=True)
            copied = type(now.bodies)(*(a if name in VARYING else a.copy() for name, a in columns))
            kept = world._recollected = now.bodies, world.scene, copied
        self._model = now._replace(bodies=kept[2], **{g: type(a)(*(x.copy() for x in a)) for g, a in self._set(now).items()})
        self._books = np.zeros_like(now.books.counters)
        self.depth = 0.0

    @staticmethod
    def _set(now: Model) -> dict[str, object]:
        """Groups of numbers that are set between steps, where there are any."""
        return {name: group for name in ("forces", "joints") if len((group := getattr(now, name)).kind)}

    @property
    def model(self) -> Model:
        return self._model

    def _packed(self) -> Model:
        return self._model

    def max_penetration(self) -> float:
        return self.depth

    def turn_to(self, strip: Strip, k: int) -> None:
        """Be the world at sample k."""
        n, j = len(self._model.bodies.kind), len(self._model.joints.kind)
        rows = slice(k * n, (k + 1) * n)
        p, l = strip.p[rows], strip.l[rows]
        bodies = self._model.bodies._replace(x=strip.x[rows], q=strip.q[rows], p=p, l=l, p_before=p, l_before=l)
        self._books[STEPS] = strip.step[k]
        books = SimpleNamespace(
            energy=strip.energy[k],
            moved=strip.moved[k : k + 1],
            reservoir=strip.reservoir[2 * k : 2 * k + 2],
            counters=self._books,
        )
        joints = self._model.joints
        if j:
            joints = joints._replace(value=strip.turn[k * j : (k + 1) * j])
        self._model = self._model._replace(bodies=bodies, books=books, joints=joints)
        self.depth = float(strip.depth[k])


class Reel(Mapping[str, np.ndarray]):
    """The variables of a recording by name, each worked out when it is first asked for."""

    def __init__(self, world: World, samples: int, every: int):
        self._then = Recollection(world)
        self.strip = strip_in_one(samples, len(world.bodies), len(world.joints), every)
        self._kept: dict[str, np.ndarray] = {}

    def keep(self, world: World) -> None:
        """Take a sample of the world as it stands, unless it is there."""
        strip, m = self.strip, world.model
        count = strip.count[0]
        if count == 0 or strip.step[count - 1] != world.step_count:
            KEEP.bind(m.bodies, m.books, m.contacts, m.joints, strip)()

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._kept:
            self._work_out(name)
        return self._kept[name]

    def _work_out(self, name: str) -> None:
        """A variable; with one of the books or the energies all of them, which share most of the work."""
        energies = [v for v in VARIABLES if v.unit == "J"]
        wanted = energies if BY_NAME[name].unit == "J" else [BY_NAME[name]]
        then, rows = copy(self._then), []
        for k in range(self.strip.count[0]):
            then.turn_to(self.strip, k)
            now = Moment(then)
            rows.append([v.read(now) for v in wanted])
        for v, column in zip(wanted, zip(*rows, strict=True), strict=True):
            self._kept[v.name] = np.array(column, dtype=v.dtype)

    def __iter__(self) -> Iterator[str]:
        return iter(BY_NAME)

    def __len__(self) -> int:
        return len(BY_NAME)


def strip_in_one(samples: int, bodies: int, joints: int, every: int) -> Strip:
    """An empty strip whose arrays lie one behind the other: its table is told from one address, a fifth of the time."""
    rows = samples * bodies
    shapes = ((1,), (1,), (samples,), (rows, 3), (rows, 4), (rows, 3), (rows, 3), (samples * joints,))
    shapes = (*shapes, (samples, ENTRIES), (samples,), (2 * samples, 3), (samples,))
    block = np.empty(sum(map(prod, shapes)))
    whole, base, at, arrays, words = block.view(np.int64), block.ctypes.data, 0, [], []
    for k, shape in enumerate(shapes):
        stop = at + prod(shape)
        flat = (whole if k < 3 else block)[at:stop]
        arrays.append(flat if len(shape) == 1 else flat.reshape(shape))
        words += [base + 8 * at, *shape, *((8,) if len(shape) == 1 else (8 * shape[1], 8))]  # as Group tells them
        at = stop
    arrays[0][0], arrays[1][0] = every, 0
    strip = Strip(*arrays)
    strip.__dict__["table"] = table = np.array(words, np.int64)
    strip.__dict__["_address"] = table.ctypes.data
    return strip


def fits(world: World, samples: int) -> bool:
    """Whether such a run can be recorded this way."""
    return world.settings.sleep_steps == 0 and samples * (15 * len(world.bodies) + 20) * 8 < MOST_BYTES


def rewind(bound: Call | Plain, strip: Strip) -> None:
    """Have the compiled step take its samples on this strip, the last of its arguments that are given."""
    bound.arguments = (*bound.arguments[:-1], strip)
    if isinstance(bound, Call):
        bound._words[bound._first - 1] = strip._address
