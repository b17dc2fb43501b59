"""The world: build it, step it, ask it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal

import numpy as np

from tumble.collision.hints import FileName, Numbers
from tumble.collision.kernels.shipped import provide
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.collision.spelling import spelled
from tumble.collision.suggesting import Keeps
from tumble.sim.compiled import LIBRARY
from tumble.sim.errors import SimulationError
from tumble.sim.forces.force_definitions import Force
from tumble.sim.forces.functions import Callback
from tumble.sim.joints.mechanism.actuators import Controls
from tumble.sim.joints.mechanism.instruments import Instruments
from tumble.sim.ledger.events import Event, take
from tumble.sim.recording.observers import whole_number
from tumble.sim.scene import arrays as tables
from tumble.sim.scene.materials import rules
from tumble.sim.scene.options import Options, Rule
from tumble.sim.scene.scene import Scene
from tumble.sim.state import EVENTS, LOG
from tumble.sim.words import count
from tumble.sim.world import checkpoint
from tumble.sim.world.applied_forces import Pushes
from tumble.sim.world.body import Body
from tumble.sim.world.joint import Joint
from tumble.sim.world.parts.bodies import WithBodies
from tumble.sim.world.parts.links import WithLinks
from tumble.sim.world.parts.stepping import Stepping


class World(Keeps, WithBodies, WithLinks, Stepping):
    """Rigid bodies under gravity, in contact. SI units, z up.

    >>> world = World()
    >>> world.add(HalfSpace(), kind="static")
    >>> crate = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 2), angular_velocity=(1, 2, 3))
    >>> run = world.run(seconds=2.0)
    >>> world.energy().total, crate.position

    The keywords are those of :class:`~tumble.sim.scene.options.Options`: ``gravity``, ``dt``, ``integrator``, ``solver`` ...
    And ``threads``: how many share the work of a step in worlds of 100 bodies and more, to the same bits; by default as many as
    the process has cores, or $TUMBLE_THREADS.
    """

    ROOM = tables.PAIRS  # candidate pairs that there is room for at the start
    SETS = (
        "options", "settings", "materials", "pairs", "bodies", "quarantined", "joints", "controls", "instruments", "apart",
        "forces",
    )  # fmt: skip

    @spelled
    def __init__(
        self,
        gravity: Numbers = (0.0, 0.0, -9.81),
        dt: float = 1 / 240,
        integrator: Literal["rk4", "exact", "splitting", "dop853"] = "rk4",
        tolerance: float = 1e-11,
        look_ahead: bool = True,
        friction_rule: Rule = "geometric",
        restitution_rule: Rule = "max",
        restitution_law: Literal["stronge", "poisson", "newton"] = "stronge",
        solver: Literal["newton", "sweeps"] = "newton",
        sleep_after: float = 0.0,
        sleep_speed: float = 1e-3,
        sleep_spin: float = 1e-2,
        quarantine: bool = False,
        threads: int | None = None,
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "threads", "__class__")}
        provide(LIBRARY)
        self.threads = threads
        self.options = Options(**given)
        self.settings = self.options.settings()
        self.materials: dict[str, dict[str, Any]] = {}
        self.pairs: list[dict[str, Any]] = []
        self._glance: Any = None  # the compiled reading of bodies for their views, bound to the arrays; and that of joints
        self._glance_joint: Any = None
        self._bounds: dict[Any, tuple[tuple, Any]] = {}  # other kernels, with the arguments that they are bound to
        self.bodies: list[Body] = []
        self.quarantined: list[SimulationError] = []  # why bodies were taken out, one for each step at which some were
        self.joints: list[Joint] = []
        self.controls = Controls(self)
        self.instruments = Instruments()  # read in each run, and by ``world.instruments(world)``
        self._scene: Scene | None = None
        self._dormant: dict[str, np.ndarray] = {}  # contacts of sleeping bodies
        self._serial = 0  # of the next body
        self._by_serial: dict[int, Body] = {}
        self.apart: list[tuple[str, str]] = []  # pairs of bodies that do not meet
        self._start = 0.0  # energy that the ledger counts from [J]
        self._started = False  # before that, what is set belongs to the start; afterwards it is work of the user
        self._changed_at: float | None = 0.0  # energy before a change from outside; None: nothing was changed
        self.forces: list[Force] = []
        self._calls: dict[Force, Callback] = {}  # functions among the forces
        self._pushes = Pushes()
        self._packed_for: Any = None  # the group of bodies that the group of forces belongs to
        self._packed_links: Any = None  # and what of the joints
        self._waiting: list[Body] = []  # bodies that were added and have no rows yet
        self._named: dict[str, Body] = {}
        self._numbers: dict[str, int] = {}  # to try next for a body without a name, by the shape's
        self._set_of_shapes = ShapeSet([])
        self._resize(tables.empty(self.ROOM, rules=rules(friction_rule, restitution_rule)))

    @classmethod
    def from_scene(cls, scene: Scene) -> World:
        """A world that starts from a scene."""
        world = cls(**scene.chosen())
        world.materials, world.pairs = deepcopy(scene.materials), deepcopy(scene.pairs)
        world._add(list(scene.bodies))
        world._add_joints(scene.joints)
        for actuator in scene.actuators:
            world.controls.add(actuator)
        for instrument in scene.instruments:
            world.instruments.add(instrument)
        for a, b in scene.apart:
            world.exclude(a, b)
        for force in scene.forces:
            world.add_force(force)
        world._scene = scene
        return world

    def events(self) -> list[Event]:
        """What happened since this was asked last: impacts, contacts that began or ended, who entered or left a sensor.

        There is room for 4096 events (see :meth:`listen`); those that find none are counted, and a warning tells how many.
        """
        self._begin()
        return take(self)

    def listen(self, persist: bool = False, capacity: int = tables.EVENTS_KEPT) -> None:
        """Say how many events there is room for, and whether each step tells of contacts that last ("persist")."""
        books = self.model.books
        log = np.zeros((max(whole_number("capacity", capacity), int(books.counters[EVENTS])), LOG))
        log[: books.counters[EVENTS]] = books.log[: books.counters[EVENTS]]
        books.watch[0] = bool(persist)
        self.model = self.model._replace(books=books._replace(log=log))

    def keep_accounts(self) -> None:
        """From now on the books are also kept for each two bodies that touch: see :meth:`ledger_by_pair`."""
        if len(self.model.books.account) == 0:
            self._resize(tables.with_accounts(self.model))

    def __getitem__(self, name: str) -> Body:
        """The body of this name."""
        if name in self._named:
            return self._named[name]
        raise KeyError(f"no body of the world has the name {name!r}; there are {', '.join(self.names)}")

    def save(self, path: FileName) -> None:
        """Write the world to a file; :meth:`load` goes on from it bit for bit."""
        checkpoint.save(self, path)

    @classmethod
    def load(cls, path: FileName, functions: dict[str, Callable[..., Any]] | None = None) -> World:
        """The world that was saved to a file; ``functions``: by name, those that were forces, which no file can hold."""
        return checkpoint.load(cls, path, functions or {})

    def _repr_html_(self) -> str:
        from tumble.sim.world import notebook_html as html

        return html.world(self)

    def __repr__(self) -> str:
        return f"<World: {count(len(self.bodies), 'body')}, t = {self.time:.6g} s, {self.energy().total:.9g} J>"
