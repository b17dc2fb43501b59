"""A run recorded by the compiled step, which copies poses, momenta and the ledger; all else is computed when it is asked for.

So a run that is recorded at every step costs hardly more than its steps. To compute a quantity, a world is set to the state of
the sample and asked for it. So its bits are those that an observer would have recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from functools import cached_property, lru_cache
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.kernels.group import Group
from tumble.collision.kernels.native import Call, Plain
from tumble.sim.compiled import TAKE_SAMPLE
from tumble.sim.ledger import diagnostics
from tumble.sim.ledger.entries import SIGNS, Ledger
from tumble.sim.recording.compiled_samples import Strip
from tumble.sim.recording.recorded_variables import VARIABLES, Moment, Variable
from tumble.sim.state import CENTRAL, DYNAMIC, EXAMPLE, MUTUAL, SLEEPING, SPRING, STEPS, Bodies, Model
from tumble.sim.world.world_queries import Asking

if TYPE_CHECKING:
    from tumble.sim.world.world import World

BLOCK = 50_000  # rows of bodies that are worked out at once
POTENTIALS = (CENTRAL, MUTUAL, SPRING)  # kinds of forces that have a potential
MOST_STRIP_BYTES = 250_000_000  # of a strip; longer runs of more bodies are recorded by an observer
# Of the bodies what a run does not change; poses and momenta are those of the strip, and all else is nobody's to ask: a first run
# of a small world would take a fifth longer with copies of it.
STAYING = [Bodies._fields.index(f) for f in ("kind", "mass", "inv_mass", "inertia", "inv_inertia", "center", "gravity", "field")]
BY_NAME = {variable.name: variable for variable in VARIABLES}


def sampled_bodies(bodies: Bodies) -> Bodies:
    """Of the bodies what samples are worked out of."""
    columns = list(EXAMPLE.bodies)  # nobody asks for the rest, but kernels want a table of all
    for k in STAYING:
        columns[k] = bodies[k].copy()
    return Bodies._make(columns)


def own(group: Any) -> Any:
    """A copy of forces or joints, whose numbers are set between steps, where there are any."""
    return type(group)(*(column.copy() for column in group)) if len(group.kind) else group


class Recollection(Asking):
    """The world as it was at one sample after the other."""

    def __init__(self, world: World):
        self.settings, self.bodies, self.joints = world.settings, [], []  # of these nothing is asked
        self._started, self._start, self._changed_at = True, world._start, None
        now = world._packed()
        self._model = now._replace(bodies=sampled_bodies(now.bodies), forces=own(now.forces), joints=own(now.joints))
        self.depth = 0.0

    @property
    def has_potentials(self) -> bool:
        """There is energy in forces other than uniform gravity, or in joints."""
        forces, joints = self._model.forces, self._model.joints
        return bool(np.isin(forces.kind, POTENTIALS).any() or joints.stiffness.any() or joints.armature.any())

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
        counters = np.zeros_like(self._model.books.counters)
        counters[STEPS] = strip.step[k]
        energy, moved, reservoir = strip.energy[k], strip.moved[k : k + 1], strip.reservoir[2 * k : 2 * k + 2]
        books = SimpleNamespace(energy=energy, moved=moved, reservoir=reservoir, counters=counters)
        joints = self._model.joints
        if j:
            joints = joints._replace(value=strip.turn[k * j : (k + 1) * j])
        self._model = self._model._replace(bodies=bodies, books=books, joints=joints)
        self.depth = float(strip.depth[k])


class Samples:
    """Several samples at once: variables by name, (T, ...), with the bits that each alone has. It knows no springs."""

    def __init__(self, then: Recollection, strip: Strip, first: int, stop: int):
        bodies, self.strip, self.dt, self.start = then._model.bodies, strip, then.dt, then._start
        self.here, self.count, n = slice(first, stop), stop - first, len(bodies.kind)
        rows = slice(first * n, stop * n)
        p, l = strip.p[rows], strip.l[rows]
        each = {name: self._repeated(getattr(bodies, name)) for name in ("kind", "mass", "inv_mass", "inv_inertia", "center")}
        self.flat = bodies._replace(x=strip.x[rows], q=strip.q[rows], p=p, l=l, p_before=p, l_before=l, **each)
        self.dynamic, self.pull = bodies.kind == DYNAMIC, self._repeated(bodies.gravity + bodies.field)

    def _repeated(self, column: np.ndarray) -> np.ndarray:
        """A column of the bodies for each sample."""
        return np.tile(column, (self.count, *(1 for _ in column.shape[1:])))

    def _split(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.count, len(self.dynamic), *rows.shape[1:])

    def _sums(self, rows: np.ndarray) -> np.ndarray:
        """(T,) sums over bodies and directions."""
        return rows.reshape(self.count, -1).sum(axis=1)

    time = property(lambda self: self.step * self.dt)
    step = property(lambda self: self.strip.step[self.here])
    orientation = property(lambda self: self._split(self.flat.q))
    asleep = property(lambda self: self._split(self.flat.kind == SLEEPING))
    velocity = property(lambda self: self._split(diagnostics.velocities(self.flat)))
    angular_velocity = property(lambda self: self._split(self._spin))
    penetration = property(lambda self: self.strip.depth[self.here])
    reservoir_momentum = property(lambda self: self.strip.reservoir[0::2][self.here] + 0.0)
    reservoir_angular_momentum = property(lambda self: self.strip.reservoir[1::2][self.here] + 0.0)
    energy = property(lambda self: self.kinetic_linear + self.kinetic_angular + self.potential)

    @property
    def position(self) -> np.ndarray:
        b = self.flat
        return self._split(b.x - np.einsum("nij,nj->ni", diagnostics.rotations(b.q), b.center))

    @cached_property
    def _spin(self) -> np.ndarray:
        return diagnostics.angular_velocities(self.flat)

    @cached_property
    def kinetic_linear(self) -> np.ndarray:
        p, _ = diagnostics.mean_momenta(self.flat)
        return 0.5 * self._sums(p * p * self.flat.inv_mass[:, None])

    @cached_property
    def kinetic_angular(self) -> np.ndarray:
        _, l = diagnostics.mean_momenta(self.flat)
        return 0.5 * self._sums(self._split(l)[:, self.dynamic] * self._split(self._spin)[:, self.dynamic])

    @cached_property
    def potential(self) -> np.ndarray:
        return -self._sums(self.flat.mass[:, None] * self.flat.x * self.pull) + 0.0

    @property
    def momentum(self) -> np.ndarray:
        return self._split(diagnostics.mean_momenta(self.flat)[0])[:, self.dynamic].sum(axis=1)

    @property
    def angular_momentum(self) -> np.ndarray:
        p, l = diagnostics.mean_momenta(self.flat)
        return self._split(l + np.cross(self.flat.x - np.zeros(3), p))[:, self.dynamic].sum(axis=1)

    def __getattr__(self, name: str) -> np.ndarray:
        """An entry of the ledger."""
        entry, books = name.removeprefix("ledger_"), self.strip.energy[self.here]
        if entry == "moved":
            return self.strip.moved[self.here]
        if entry == "residual":
            return self.energy - self.start - np.array([np.dot(SIGNS, row) for row in books])
        if entry == name or entry not in Ledger._fields:
            raise AttributeError(name)
        return books[:, Ledger._fields.index(entry)]


class Reel(Mapping[str, np.ndarray]):
    """The variables of a recording by name, each worked out when it is first asked for."""

    def __init__(self, world: World, samples: int, every: int):
        self._then = Recollection(world)
        self.strip = strip_in_one(samples, len(world.bodies), len(world.joints), every)
        self._kept: dict[str, np.ndarray] = {}
        self._bound: Any = None
        self._model: Model | None = None  # that it is bound to

    def keep(self, world: World) -> None:
        """Take a sample of the world as it stands."""
        m = world.model
        if m is not self._model:
            self._bound, self._model = TAKE_SAMPLE.bind(m.bodies, m.books, m.contacts, m.joints, self.strip), m
        self._bound()

    def __getstate__(self) -> dict[str, Any]:
        """Without what stands in this process alone."""
        return {**self.__dict__, "_bound": None, "_model": None}

    @property
    def samples(self) -> int:
        """How many there are so far."""
        return int(self.strip.count[0])

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._kept:
            self._work_out(name)
        return self._kept[name]

    def _work_out(self, name: str) -> None:
        """A variable; with one of the books or the energies all of them, which share most of the work."""
        energies = [v for v in VARIABLES if v.unit == "J"]
        wanted = energies if BY_NAME[name].unit == "J" else [BY_NAME[name]]
        if self._then.has_potentials and BY_NAME[name].unit == "J":
            self._one_by_one(wanted)
            return
        count, size = int(self.strip.count[0]), max(1, BLOCK // max(1, len(self._then._model.bodies.kind)))
        blocks = [Samples(self._then, self.strip, k, min(k + size, count)) for k in range(0, count, size)]
        for v in wanted:
            self._kept[v.name] = np.concatenate([getattr(block, v.name) for block in blocks]).astype(v.dtype, copy=False)

    def _one_by_one(self, wanted: list[Variable]) -> None:
        """Variables as a world tells them whose state is that of one sample after the other."""
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


class StripInOne(Group):
    """A strip in one block: its table, which kernels take, then its arrays, each made when it is first asked for."""

    def __init__(self, samples: int, bodies: int, joints: int, every: int):
        total, self.parts, words, moved = _laid_out(samples, bodies, joints, every)
        self.block = np.empty(total, np.int64)
        self.__dict__["_address"] = address = self.block.ctypes.data
        self.block[: len(words)] = words + moved * address

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in self.__dict__.get("parts", ()):
            raise AttributeError(name)
        shape, kind, offset = self.parts[name]
        array = self.__dict__[name] = np.ndarray(shape, kind, self.block, offset)
        return array

    def __reduce__(self) -> tuple:
        return Strip, tuple(getattr(self, name) for name in Strip._fields)


def strip_in_one(samples: int, bodies: int, joints: int, every: int) -> Any:
    """An empty strip in one block of memory: its table is told from one address, a tenth of the time."""
    strip = StripInOne(samples, bodies, joints, every)
    return strip if TAKE_SAMPLE.is_native else Strip(*strip.__reduce__()[1])


@lru_cache(maxsize=64)
def _laid_out(samples: int, bodies: int, joints: int, every: int) -> tuple[int, dict[str, tuple], np.ndarray, np.ndarray]:
    """``(numbers in all, shape, type and offset of each array by its name, first words of a block, 1 for addresses among them)``.

    The words are the table of a block at address 0, ``every`` and ``count``.
    """
    sizes = {"s": samples, "n": bodies, "j": joints}
    columns = [(column.shape(sizes), column.kind) for column in Strip._field_defaults.values()]
    at = sum(1 + 2 * len(shape) for shape, _ in columns)
    parts, words, addresses = [], [], []
    for shape, kind in columns:
        parts.append((shape, kind, 8 * at))
        addresses.append(len(words))
        words += [8 * at, *shape, *((8,) if len(shape) == 1 else (8 * shape[1], 8))]  # as Group tells them
        at += prod(shape)
    words += [every, 0]
    moved = np.zeros(len(words), np.int64)
    moved[addresses] = 1
    return at, dict(zip(Strip._fields, parts, strict=True)), np.array(words, np.int64), moved


def fits(world: World, samples: int) -> bool:
    """Whether such a run can be recorded this way: nothing falls asleep, and no actuator sets springs on the way."""
    if world.settings.sleep_steps > 0 or world.controls.actuators:
        return False
    return samples * (15 * len(world.bodies) + 20) * 8 < MOST_STRIP_BYTES


def rewind(bound: Call | Plain, strip: Strip) -> None:
    """Have the compiled step take its samples on this strip, the last of its arguments that are given."""
    bound.arguments = (*bound.arguments[:-1], strip)
    if isinstance(bound, Call):
        bound._words[bound._first - 1] = strip._address
