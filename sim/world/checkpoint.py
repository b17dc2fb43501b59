"""A world on disk, such that the run goes on bit for bit: all arrays of the model, and the bodies as they were added."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.shapes.definitions import GROUND_TYPES
from tumble.sim.errors import InputError, RecordingError, SimulationError
from tumble.sim.files import whole
from tumble.sim.forces.force_definitions import FunctionForce, force_from_dict
from tumble.sim.joints.joint_definitions import joint_from_dict
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.joints.mechanism.instrument_kinds import instrument_from_dict, instrument_to_dict
from tumble.sim.recording.storage.reading_files import UNREADABLE
from tumble.sim.scene.arrays import with_pairs
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.state import CARRIER, Model
from tumble.sim.world.applied_forces import Pushes
from tumble.sim.world.body import Body

if TYPE_CHECKING:
    from tumble.sim.world.world import World

CHECKPOINT_SCHEMA = 21
MOST_HEADER = 500_000_000  # bytes
LONG_HEADER = 10_000_000  # bytes; so long it is made of the bits of grounds, which are as short already as they become
# bytes that a saved world may unpack to; it is some 2 kB a body, with contacts 60; the largest ground is 224 MB
MOST_UNPACKED, BYTES_A_BODY, BYTES_A_GROUND = 250_000_000, 200_000, 250_000_000


def save(world: World, path: str | Path) -> None:
    """Write a world to one file (NumPy's .npz), under a temporary name first: a crash leaves the old file or the new one."""
    path = Path(path)
    groups = world.model._asdict()  # bodies that were just added get their rows
    header = {
        "tumble_checkpoint": CHECKPOINT_SCHEMA,
        "bodies": [body.definition.to_dict(stored=True) for body in world.bodies],
        "joints": [joint.definition.to_dict() for joint in world.joints],
        "forces": [force.to_dict() for force in world.forces],
        "actuators": [[one.to_dict(), world.controls[name]] for name, one in world.controls.actuators.items()],
        "seen": world.controls.seen,
        "options": world.options.chosen(),
        "materials": world.materials,
        "pairs": world.pairs,
        "step_count": world.step_count,
        "start": world._start,
        "started": world._started,
        "apart": world.apart,
        "serial": world._serial,
        "gone": {s: body.definition.to_dict(stored=True) for s, body in world._by_serial.items() if not body.alive},
        "changed_at": world._changed_at,
        "pushes": world._pushes.to_dict(),
        "instruments": [instrument_to_dict(one) for one in world.instruments.instruments.values()],
        "instruments_memory": world.instruments.memory(),
        "quarantined": [[error.reason, error.step, error.time, error.names] for error in world.quarantined],
    }
    arrays = {
        f"{group}.{field}": array
        for group, members in groups.items()
        if group != "forces"
        for field, array in members._asdict().items()
    }
    arrays |= {f"dormant.{field}": array for field, array in world._dormant.items()}
    for n, readings in enumerate(world.instruments.values()):
        arrays |= {f"readings.{n}.times": readings.times, f"readings.{n}.values": readings.values}
    text = json.dumps(header).encode()
    write = np.savez if len(text) > LONG_HEADER else np.savez_compressed
    with whole(path) as part, open(part, "wb") as file:
        try:
            write(file, header=np.array(text), **arrays)
        except ValueError as error:  # zipfile's: it can not close what Ctrl-C or a full disk interrupted, which is what to tell
            if isinstance(error.__context__, KeyboardInterrupt | OSError):
                raise error.__context__ from None
            raise


def load(cls: type[World], path: str | Path, functions: dict[str, Callable[..., Any]]) -> World:
    """The world of a file written by :func:`save`; ``functions``: forces by name. RecordingError where it is none."""
    path = Path(path)
    try:
        if not path.is_file() and path.exists():
            raise RecordingError(path, "is not a regular file")
        with np.load(path, allow_pickle=False) as file:
            sizes = {item.filename: item.file_size for item in file.zip.infolist()}
            if sizes["header.npy"] > MOST_HEADER:
                raise RecordingError(path, f"has a header of more than {MOST_HEADER // 1_000_000} MB")
            header = json.loads(file["header"].item())
            bodies = header.get("bodies") if isinstance(header, dict) else None
            most = MOST_UNPACKED
            for body in bodies if isinstance(bodies, list) else ():
                shape = body.get("shape") if isinstance(body, dict) else None
                ground = isinstance(shape, dict) and shape.get("type") in GROUND_TYPES
                most += BYTES_A_GROUND if ground else BYTES_A_BODY
            if sum(sizes.values()) > most:  # zeros are packed a thousand to one
                raise RecordingError(
                    path, f"would unpack to {sum(sizes.values()) / 1e6:.0f} MB: at most {most / 1e6:.0f} MB are read"
                )
            arrays = {name: file[name] for name in file.files if name != "header"}
    except FileNotFoundError:
        raise RecordingError(path, "there is no such file") from None
    except UNREADABLE:
        raise RecordingError(path, "is not a saved world") from None
    if not isinstance(header, dict):
        raise RecordingError(path, "is not a saved world")
    if header.get("tumble_checkpoint") != CHECKPOINT_SCHEMA:
        other = f"has layout {header.get('tumble_checkpoint')}, this version reads {CHECKPOINT_SCHEMA}"
        raise RecordingError(path, f"is a world saved by another version of tumble: it {other}")
    try:
        return _built(cls, header, arrays, functions)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError) and error.name == "function":
            raise  # of the force that the caller has to give again
        raise RecordingError(path, f"is damaged: {error}") from None


def _built(cls: type[World], header: dict[str, Any], arrays: dict[str, np.ndarray], functions: dict[str, Any]) -> World:
    world = cls(**header["options"])
    for name, material in header["materials"].items():
        world.set_material(name, **material)
    world.pairs = header["pairs"]
    world._add([BodyDef.from_dict(body) for body in header["bodies"]])
    world._add_joints([joint_from_dict(joint) for joint in header["joints"]])
    for data, value in header["actuators"]:
        actuator = Actuator.from_dict(data)
        world.controls.add(actuator)
        if actuator.times is None:
            world.controls[actuator.name] = value
    world.controls.seen = {name: (int(step), float(v), float(dv)) for name, (step, v, dv) in header.get("seen", {}).items()}
    world.apart = [(a, b) for a, b in header["apart"]]
    if unknown := {name for pair in world.apart for name in pair} - set(world.names):
        raise ValueError(f"apart names {', '.join(map(str, unknown))}")
    world._keep_apart()
    for data in header["forces"]:
        force = force_from_dict(data)
        if isinstance(force, FunctionForce):
            force = force.replace(function=functions.get(force.name))
        world.add_force(force)
    world._pushes.take(world, header.get("pushes", {}))
    own = len(world.model.geoms.body)
    if len(arrays["geoms.body"]) > own:  # facets of grounds, in the last rows
        owners = arrays["geoms.body"][own:]
        carriers = world.model.geoms.body[world.model.geoms.face == CARRIER]
        if not np.isin(owners, carriers).all():
            raise ValueError("geoms.body names facets of bodies that are no ground")
        world._add_facets(owners)
    world._resize(_stored(world._packed(), arrays))
    world._packed_for = None  # who flies with whom follows from who sleeps
    world._packed()
    world._dormant = {name.removeprefix("dormant."): array for name, array in arrays.items() if name.startswith("dormant.")}
    world._serial = operator.index(header["serial"])
    gone = {int(s): Body(world, None, BodyDef.from_dict(body)) for s, body in header["gone"].items()}
    world._by_serial = gone | dict(zip(map(int, world.model.bodies.serial), world.bodies, strict=True))
    world._start, world._started = float(header["start"]), bool(header["started"])
    world._changed_at = None if header["changed_at"] is None else float(header["changed_at"])
    for data in header.get("instruments", []):
        world.instruments.add(instrument_from_dict(data))
    told = ((arrays[f"readings.{n}.times"], arrays[f"readings.{n}.values"]) for n in range(len(world.instruments)))
    readings = dict(zip(world.instruments, told, strict=True))
    world.instruments.take_up(world, header.get("instruments_memory"), readings)
    world.quarantined = [SimulationError(*said) for said in header.get("quarantined", [])]
    return world


# Arrays of any length: as long as somebody wanted, or as what happened.
FREE_LENGTH = ("books.log", "books.account", "books.works")


def _stored(model: Model, arrays: dict[str, np.ndarray]) -> Model:
    """The model with the arrays of a file in the place of its own, which are of the same types and sizes; else ValueError."""
    model = with_pairs(model, max(len(model.pairs.event), len(arrays["pairs.event"])))
    stored = {}
    for name, group in model._asdict().items():
        if name == "forces":
            continue
        stored[name] = type(group)(*(arrays[f"{name}.{field}"] for field in group._fields))
        for field, own, found in zip(group._fields, group, stored[name], strict=True):
            free = f"{name}.{field}" in FREE_LENGTH
            if found.dtype != own.dtype or found.shape[free:] != own.shape[free:]:
                raise ValueError(f"{name}.{field} is {found.dtype} {found.shape}, where {own.dtype} {own.shape} is needed")
    if len(stored["books"].account) != len(stored["books"].works):
        raise ValueError("books.account and books.works differ in length")
    return model._replace(**stored)


def taken(world: World) -> dict[str, Any]:
    """The whole state of a world in memory, for :func:`restore`."""
    groups = {n: type(g)(*(a.copy() for a in g)) for n, g in world.model._asdict().items() if n != "forces"}
    rest = {name: getattr(world, name) for name in ("_start", "_started", "_changed_at")}
    dormant = {name: column.copy() for name, column in world._dormant.items()}
    return {
        "groups": groups,
        "rest": rest,
        "dormant": dormant,
        "pushes": world._pushes.to_dict(),
        "controls": (dict(world.controls), dict(world.controls.seen)),
    }


def restore(world: World, state: dict[str, Any]) -> None:
    """Put a world back to a state that was taken from it, when it had the same bodies, joints and forces."""
    world._resize(world.model._replace(**{n: type(g)(*(a.copy() for a in g)) for n, g in state["groups"].items()}))
    world._fit_facets()
    world._dormant = {name: column.copy() for name, column in state["dormant"].items()}
    for name, value in state["rest"].items():
        setattr(world, name, value)
    world._pushes = Pushes()
    world._pushes.take(world, state["pushes"])
    world.controls.take(*state["controls"])
