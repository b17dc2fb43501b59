"""Steps of a world: how it begins, goes on, is helped by threads, stops where a state is no good; and whole runs."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.collision.kernels.native import Careful, Entry, Meanwhile
from tumble.collision.spelling import spelled
from tumble.sim.compiled import ADVANCE, ASSEMBLE, BEGIN, LIBRARY, RECENTRE
from tumble.sim.errors import SimulationError
from tumble.sim.joints.mechanism.tree import loop_of
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger import readings
from tumble.sim.ledger.blow_up import FAR_THROWN, SPEED_OF_LIGHT
from tumble.sim.recording.compiled_samples import NO_STRIP
from tumble.sim.recording.observers import Every, whole_number
from tumble.sim.recording.provenance import metadata_later
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.scene import arrays as tables
from tumble.sim.state import BOOKS_FULL, DROWSY, DYNAMIC, NOT_FINITE, OK, PAIRS_FULL, THROWN, TORN, WAKE, Model
from tumble.sim.world import compiled_recording as recollected
from tumble.sim.world import sleep as sleeping
from tumble.sim.world.thread_pool import HUGE, LARGE_WORLD, LONG_STEP, MOST_THREADS, Apart, Helpers, cores
from tumble.sim.world.world_queries import Asking

if TYPE_CHECKING:
    from tumble.sim.world.world import World

OPEN, OVERSHOT = 1e-9, 1e-6  # [m or rad] joints that are open by more, or beyond their limits, where a world begins, are seen to
UNREACHED = 1e-3  # of what a joint is beyond its limits: where Newton's method leaves more of it, no pose near is within them
CALL = 0.05  # s that a compiled call of several steps may take: Ctrl-C ends a run between two calls
SAMPLES = 4000  # most samples of a run that nobody asked to record
LARGEST_NUMBER = 1e150  # of the numbers of a state whose squares are finite
CHANGED = (  # of bodies, books and joints: what a step changes, as flight/saved_state.py keeps it
    ("x", "q", "p", "l", "p_before", "l_before", "low", "island"),
    ("counters", "energy", "pending", "moved", "worst", "reservoir", "reservoir_pending", "account", "works"),
    ("kept", "pace"),
)


def _too_fast(bodies: Any, dt: float) -> np.ndarray:
    """(n,) bool: the bodies that contacts threw, as in ``ledger/blow_up.py``."""
    out = bodies.kind == DYNAMIC
    radius = bodies.radius[out]
    with np.errstate(over="ignore", invalid="ignore"):  # a momentum whose square is not finite is infinite here: too fast
        turning = bodies.spin[out] * np.linalg.norm(bodies.l[out], axis=1)
        speed = bodies.inv_mass[out] * np.linalg.norm(bodies.p[out], axis=1) + radius * turning
    out[out] = (speed > SPEED_OF_LIGHT) | (speed * dt > FAR_THROWN * radius)
    return out


def _not_finite(bodies: Any) -> np.ndarray:
    """(n,) bool: the bodies whose state is not finite."""
    return ~np.isfinite(_state(bodies)).all(axis=1)


def _state(bodies: Any) -> np.ndarray:
    """(n, 19) what moves of bodies: a row each."""
    return np.hstack((bodies.x, bodies.q, bodies.p, bodies.l, bodies.p_before, bodies.l_before))


class Stepping(Asking):
    """Steps of a world: how it begins, goes on, is helped by threads, stops where a state is no good; and whole runs."""

    _bound: Any = None  # the compiled step, bound to the arrays that it was called for last
    _bound_for: Any = None  # settings that it is bound for
    _helpers: Helpers | None = None  # threads that share the work of a step
    _late: Apart | None = None  # a call that Ctrl-C was not waited for
    _slow = False  # a step takes so long that one would wait for Ctrl-C
    _strip = NO_STRIP  # where the step takes samples
    _pace = 1  # steps of a compiled call

    def _begin(self) -> None:
        """Centre the kick on velocities that were set, and book what setting them did to the energy."""
        if self._changed_at is None:
            return
        open_by, beyond = self._close_joints() if self.joints else (0.0, 0.0)
        if open_by > OPEN:
            worst = max(self.joints, key=lambda joint: joint.error)
            open_by = f"the joints can not all be closed: {worst.name} stays open by {worst.error:.3g}"
            loop = loop_of(self, worst.index)
            if loop:
                open_by += f"; the anchors and lengths of the loop {', '.join(loop)} must allow a pose in which all of them meet"
            raise SimulationError(open_by, names=(worst.name,))
        if beyond > OVERSHOT:
            self._check_stops(beyond)
        if self.controls.actuators and self.controls.explicit:
            self.controls.refresh(ahead=False)
        now = self.energy().total
        if not self._started:
            self._start = now
        else:
            self.model.books.energy[ledger.USER] += now - self._changed_at
        self._kick()
        self._changed_at = None

    def _resume(self) -> None:
        """Go on once bodies fell asleep or woke: nothing was set, so the joints hold as they did."""
        self._kick()
        self._changed_at = None

    def _kick(self) -> None:
        """Centre the kick on the velocities as they are."""
        huge = len(self.bodies) >= HUGE and not self._calls
        begin = lambda: self._bound_to(BEGIN, self._packed(), self._shapes.geometry, self.settings)  # noqa: E731
        while (result := self._apart(begin()) if huge else begin()()) in (PAIRS_FULL, WAKE):
            if result == WAKE:
                sleeping.wake_roused(self)
            else:
                self._grow_pairs()
        if result != OK:
            raise self._why(result)

    def _bound_to(self, entry: Entry, *arguments: Any) -> Callable[..., Any]:
        """A kernel bound to these arguments: anew where one of them is not what it was bound to last."""
        known, bound = self._bounds.get(entry, ((), None))
        if len(known) != len(arguments) or any(a is not b for a, b in zip(known, arguments, strict=True)):
            bound = entry.bind(*arguments)
            self._bounds[entry] = arguments, bound
        return bound

    def _ready(self) -> None:
        """What was set, and what is pushed, takes hold before the step."""
        again = self._pushes.begin(self)
        if self._changed_at is not None:
            self._begin()
        elif again:
            self._bound_to(RECENTRE, self.model.bodies)()
            self._kick()

    def _close_joints(self) -> tuple[float, float]:
        """Put poses and velocities together such that joints hold; by how much the worst stays open, and by how much one is
        beyond its limits [m or rad]."""
        m = self.model
        return ASSEMBLE.bind(m.bodies, m.contacts, m.joints, m.books, self.settings, False)()

    def _check_stops(self, beyond: float) -> None:
        """SimulationError where coordinates are beyond their limits, by so much at most, and no pose brings them much nearer."""
        m = self.model
        bodies, joints = (type(group)(*(column.copy() for column in group)) for group in (m.bodies, m.joints))
        left = max(ASSEMBLE.bind(bodies, m.contacts, joints, m.books, self.settings, True)())
        if not left <= UNREACHED * beyond:
            limited = [joint for joint in self.joints if joint.measures and getattr(joint.definition, "limits", None)]
            off = {joint: max(joint.limits[0] - joint.position, joint.position - joint.limits[1]) for joint in limited}
            worst = max(off, key=off.__getitem__)
            why = f"joint {worst.name} is {off[worst]:.3g} beyond its limits {worst.limits}"
            raise SimulationError(f"{why}, and there is no pose near in which all joints are within theirs", names=(worst.name,))

    def _advancing(self) -> Callable[[int], tuple[int, int]]:
        """The compiled step, bound to the arrays as they are."""
        model, bound = self._packed(), self._bound
        other = bound is None or bound.arguments[0] is not model or self._bound_for is not self.settings
        if other or (bound.__class__ in (Careful, Meanwhile) and LIBRARY.whole):
            settings = self._bound_for = self.settings
            self._helpers = self._helped(model)
            if self._helpers is not None:
                settings = self._helpers.settings
            bound = self._bound = ADVANCE.bind(model, self._shapes.geometry, settings, self._table, self._saved, self._strip)
        elif bound.arguments[5] is not self._strip:
            recollected.rewind(bound, self._strip)
        return bound

    def _helped(self, model: Model) -> Helpers | None:
        """Threads to share the work of the steps with, where there is enough and all is compiled; members of Worlds have none."""
        if len(self.bodies) < LARGE_WORLD or not ADVANCE.is_native or not LIBRARY.whole:
            return None
        self._slow = self._slow or len(self.bodies) >= HUGE
        return Helpers(self.threads - 1, model, self._shapes.geometry, self.settings)

    def _with_help(self, helpers: Helpers, advance: Callable[[int], tuple[int, int]], steps: int) -> tuple[int, int]:
        """Call the compiled step of a large world."""
        begun = time.perf_counter()
        done, result = (
            self._apart(helpers.take, advance, steps) if self._slow and not self._calls else helpers.take(advance, steps)
        )
        self._slow = time.perf_counter() - begun > LONG_STEP * max(1, done)
        return done, result

    def _apart(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Make a long compiled call such that Ctrl-C is heard: it goes on then, and the world waits for it when it is used."""
        self._late = late = Apart(call, *arguments)
        out = late.result()
        self._late = None
        return out

    def _await(self) -> None:
        """Wait for the end of a call that was interrupted; its step counts if it could be taken."""
        ended = self._late.result()
        self._late = None
        if isinstance(ended, tuple) and ended[1] in (NOT_FINITE, THROWN, TORN):  # of a step
            self._undo()

    @property
    def threads(self) -> int:
        """How many threads share the work of a step, where there is enough of it; the results are the same bits."""
        return self._threads

    @threads.setter
    def threads(self, value: int | None) -> None:
        value = cores() if value is None else whole_number("threads", value)
        if value > MOST_THREADS:
            raise InputError("threads", value, f"must be at most {MOST_THREADS}")
        self._threads, self._bound_for = value, None

    def step(self, n: int = 1) -> None:
        """Take ``n`` steps of length dt, in compiled calls of some hundredths of a second: Ctrl-C ends it between two."""
        if n.__class__ is not int or n < 1:
            n = whole_number("n", n)
        pushes, controls = self._pushes, self.controls
        driven = bool(controls.actuators) and controls.explicit
        while n > 0:
            if pushes.coming or pushes.now:
                self._ready()
            elif self._changed_at is not None:
                self._begin()
            if not self._started:
                self._started = True
            if driven:
                controls.refresh()
            several = n > 1 and not (driven or pushes.now)
            begun, count = time.perf_counter(), min(n, self._pace) if several else 1
            advance, helpers = self._advancing(), self._helpers
            done, result = advance(count) if helpers is None else self._with_help(helpers, advance, count)
            if several:
                spent = time.perf_counter() - begun
                self._pace = max(1, min(2 * count, int(count * CALL / spent))) if done == count else count
            n -= done
            if result == OK:
                continue
            if result == PAIRS_FULL:
                self._grow_pairs()
            elif result == DROWSY:
                sleeping.fall_asleep(self)
                self._resume()
            elif result == WAKE:
                sleeping.wake_roused(self)
                self._resume()
            elif result == BOOKS_FULL:
                self._resize(tables.with_accounts(self.model))
            else:
                self._stop(result)

    def _stop(self, result: int) -> None:
        """Go back to before the step, and say why it could not be taken; or go on without the bodies that it failed for."""
        error = self._why(result)
        self._undo()
        if not (self.options.quarantine and result in (NOT_FINITE, THROWN) and set(error.names) & set(self._named)):
            raise error
        for name in error.names:
            self.remove(self._named[name])
        self.quarantined.append(error)
        warnings.warn(f"{error}: taken out of the world", stacklevel=3)

    def _why(self, result: int) -> SimulationError:
        """Why a step could not be taken."""
        where = self.step_count + 1, self.time
        if result == TORN:
            worst = max(self.joints, key=lambda joint: joint.error)
            why = "a smaller dt may hold it: taut light links swing faster than 2/dt"
            return SimulationError(f"joint {worst.name} is open by {worst.error:.3g}; {why}", *where, (worst.name,))
        for call in self._calls.values():
            if call.error is not None:
                cause, call.error = call.error, None
                error = SimulationError(f"force {call.name} raised {type(cause).__name__}: {cause}", *where, (call.name,))
                error.__cause__ = cause
                return error
        if result == THROWN:
            names = tuple(self.names[i] for i in np.flatnonzero(_too_fast(self.model.bodies, self.dt)))
            why = "as from bodies that start deep in each other, of masses far apart"
            return SimulationError(f"contacts throw {', '.join(names)} faster than anything can make them, {why}", *where, names)
        flights = self.model.forces
        bad = _not_finite(self.model.bodies)
        bad |= ~np.isfinite(flights.path).all(axis=(0, 2)) & (flights.cluster >= 0)
        if not bad.any():  # a sum over all bodies is not: those whose numbers have no squares
            bad = ~(np.abs(_state(self.model.bodies)).max(axis=1) < LARGEST_NUMBER)
        names = tuple(self.names[i] for i in np.flatnonzero(bad))
        return SimulationError(f"the state of {', '.join(names) or 'the momenta'} is not finite", *where, names)

    def _undo(self) -> None:
        """Go back to the state before a step that failed half way; the next step begins anew from there.

        A body whose state was not finite there either lies still at the origin: nothing else is known of it.
        """
        model = self.model
        for kept, now, columns in zip(self._saved[:3], (model.bodies, model.books, model.joints), CHANGED, strict=True):
            for column in columns:
                getattr(now, column)[:] = getattr(kept, column)
        bodies = self.model.bodies
        lost = _not_finite(bodies)
        for column in (bodies.x, bodies.p, bodies.l, bodies.p_before, bodies.l_before):
            column[lost] = 0.0
        bodies.q[lost] = (1.0, 0.0, 0.0, 0.0)
        self._change(())

    @spelled
    def run(
        self,
        seconds: float,
        observers: Iterable[Any] = (),
        control: Callable[[World], None] | None = None,
        every: int | None = None,
    ) -> Run:
        """Advance by ``seconds`` (to the nearest step), calling the observers at their steps; what was recorded.

        The Run is that of the first Recorder among the observers; without one the run is kept in memory, at each ``every``-th
        step, by default such that it has at most 4000 samples. Where nothing else observes or controls, the compiled step takes
        them itself: that costs 0.06 us a sample of one body, and 0.03 ms a run. ``control`` is called with the world before each
        step, after the observers have seen it, and may change anything: ``Every(4, f)`` to have it called before every fourth.
        The instruments of the world read as well, see ``Run.readings``.
        """
        steps = round(check_number("seconds", seconds, least=0) / self.dt)
        observers = list(observers)
        if self.instruments and not any(observer is self.instruments for observer in observers):
            observers.append(self.instruments)
        if not observers and control is None:
            often = max(1, -(-steps // SAMPLES)) if every is None else whole_number("every", every)
            if recollected.fits(self, steps // often + 2):
                return self._run_alone(steps, often)
        nested = [r for o in observers for r in (o, getattr(o, "action", None))]
        heard = [o for o in nested if getattr(o, "listens", hasattr(o, "happened"))]  # by those who wait for events
        recorder = next((r for r in nested if isinstance(r, Recorder)), None)
        if recorder is not None and every is not None:
            raise InputError("every", every, "is that of the recorder: Recorder(every=...)")
        if recorder is None:
            recorder = Recorder(None, every=max(1, -(-steps // SAMPLES)) if every is None else whole_number("every", every))
            observers.append(recorder)
        if control is not None and not callable(control):
            raise InputError("control", control, "must be a function that takes the world")
        pilot = control if control is None or hasattr(control, "every") else Every(1, control)
        self._begin()
        self._started = True
        last = self.step_count + steps
        started = []
        undisturbed = control is None and all(getattr(observer, "only_looks", False) for observer in observers)
        undisturbed = undisturbed and recollected.fits(self, 0)
        try:
            for observer in observers:
                if hasattr(observer, "start"):
                    observer.start(self)
                if undisturbed and isinstance(observer, Recorder):
                    observer.work_out_later(self, partial(recollected.Reel, self))
                started.append(observer)
                observer(self)
            self._go_on_to(last, observers, heard, pilot)
        finally:
            for observer in started:
                if hasattr(observer, "finish"):
                    observer.finish(self)
        run = recorder.run()
        if self.instruments:
            run._readings = dict(self.instruments)
        return run

    def _go_on_to(self, last: int, observers: list[Any], heard: list[Any], pilot: Any) -> None:
        """Step to step ``last``, from one step that an observer or the pilot wants to see to the next."""
        while self.step_count < last:
            if pilot is not None and self.step_count % pilot.every == 0:
                pilot(self)
            due = min(self.step_count - self.step_count % o.every + o.every for o in (*observers, pilot) if o is not None)
            self.step(min(due, last) - self.step_count)
            events = self.events() if heard else ()
            for observer in heard if events else ():
                observer.happened(self, events)
            for observer in observers:
                if self.step_count % observer.every == 0 or self.step_count == last:
                    observer(self)

    def _run_alone(self, steps: int, every: int) -> Run:
        """Run with nobody watching but the compiled step, which takes the samples."""
        self._begin()
        self._started = True
        begun, told = time.perf_counter(), metadata_later(self)
        reel = recollected.Reel(self, steps // every + 2, every)
        reel.keep(self)
        self._strip = reel.strip
        try:
            if steps > 0:
                self.step(steps)
        finally:
            self._strip = NO_STRIP
        if steps > 0 and self.step_count % every:  # else it is there
            reel.keep(self)
        hashed, books, spent = self._state_hash_later(), self.model.books, time.perf_counter() - begun
        counters, worst = books.counters.copy(), books.worst.copy()

        def attributes() -> dict[str, Any]:  # worked out for those who ask
            how = {"every": every, "precision": "double", "compression": 0}
            done = {"complete": True, "wall_seconds": spent, "recording_seconds": 0.0}
            told_by = readings.statistics(books._replace(counters=counters, worst=worst))
            ended = {"statistics": json.dumps(told_by), "state_hash": hashed()}
            return {**told(), **how, **done, **ended}

        return Run(reel, self.names, attributes)
