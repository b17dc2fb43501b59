"""A scene: everything a simulation starts from, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, fields
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tumble.collision.hints import FileName, Numbers, Rows, Turn
from tumble.collision.shapes.definitions import Shape
from tumble.collision.spelling import did_you_mean, missing, spelled
from tumble.sim.checks import check_fields, check_name, check_range, check_text, checked, flag, number, plain_value, vector
from tumble.sim.errors import InputError
from tumble.sim.forces.force_definitions import Force, as_force, force_from_dict
from tumble.sim.forces.path import Path
from tumble.sim.joints.joint_definitions import Driven, JointDef, joint_from_dict
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.joints.mechanism.instrument_kinds import check_places, instrument_from_dict, instrument_to_dict
from tumble.sim.joints.mechanism.instruments import Instrument
from tumble.sim.scene.body_definition import BodyDef, Kind
from tumble.sim.scene.materials import WithMaterials, made_of, put_pair, said
from tumble.sim.scene.options import Options
from tumble.sim.scene.visual import Finish, Visual

if TYPE_CHECKING:
    from tumble.sim.world.world import World


FOV = {"low": 1, "high": 170}  # degrees


@dataclass(frozen=True, slots=True)
class CameraDef:
    """Where the picture is taken from: ``position``, ``target`` and ``up`` (3,) [m], ``fov_degrees`` from top to bottom."""

    position: tuple[float, float, float] = vector((6.0, -8.0, 4.0), "m", "where the camera stands")
    target: tuple[float, float, float] = vector((0.0, 0.0, 0.5), "m", "what it looks at")
    up: tuple[float, float, float] = vector((0.0, 0.0, 1.0), told="the direction that is up in the picture")
    fov_degrees: float = checked(
        partial(check_range, **FOV), 40.0, "number", unit="deg", told="field of view from top to bottom", **FOV
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, one.metadata["check"](f"camera.{one.name}", getattr(self, one.name)))
        if self.position == self.target:
            raise InputError("camera.target", plain_value(self.target), "must differ from camera.position")
        sight = [t - p for t, p in zip(self.target, self.position, strict=True)]
        up = self.up
        cross = (sight[1] * up[2] - sight[2] * up[1], sight[2] * up[0] - sight[0] * up[2], sight[0] * up[1] - sight[1] * up[0])
        if sum(c * c for c in cross) <= 1e-12 * sum(s * s for s in sight) * sum(u * u for u in up):
            raise InputError("camera.up", plain_value(up), "must not be zero or point along the line of sight")

    def to_dict(self) -> dict[str, Any]:
        return {f.name: plain_value(getattr(self, f.name)) for f in fields(self)}


def _seed(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(name, value, "must be a whole number")
    return value


def _camera(name: str, value: object) -> CameraDef:
    if not isinstance(value, CameraDef):
        raise InputError(name, value, "must be a CameraDef")
    return value


@spelled
@dataclass
class Scene(WithMaterials, Options):
    """Bodies, materials, and how to run them: all :class:`~tumble.sim.scene.options.Options` of a world, such as ``gravity`` and
    ``dt``, are fields of it. Compares by value; goes to a dict and back without loss.

    >>> scene = Scene(name="drop", duration=2.0)
    >>> scene.add(HalfSpace(), kind="static", name="floor")
    >>> scene.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 2))
    >>> world = scene.build()
    """

    name: str = checked(check_name, "scene", told="name of the scene; by default that of the file")
    about: str = checked(check_text, "")  # what to look for, and why: on pages about runs
    duration: float = number(5.0, "s", "how long a run takes, in time of the scene", least=0)
    camera: CameraDef | None = checked(_camera, None)
    seed: int = checked(_seed, 0, "whole", told="seed of random numbers")
    parameters: dict[str, Any] = field(default_factory=dict)  # what a scenario was built with
    allow_overlap: bool = flag(told="true: bodies may overlap at the start; by default that is an error")
    materials: dict[str, dict[str, Any]] = field(default_factory=dict)  # see set_material
    pairs: list[dict[str, Any]] = field(default_factory=list)  # see set_pair
    bodies: list[BodyDef] = field(default_factory=list)
    joints: list[JointDef] = field(default_factory=list)
    forces: list[Force] = field(default_factory=list)
    apart: list[tuple[str, str]] = field(default_factory=list)  # see exclude
    actuators: list[Actuator] = field(default_factory=list)
    instruments: list[Instrument] = field(default_factory=list)  # read in each run, see World.instruments

    def __setattr__(self, name: str, value: Any) -> None:
        known = self.__dataclass_fields__
        if name not in known and not name.startswith("_"):
            raise missing("'Scene' object", name, known, self)
        object.__setattr__(self, name, value)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, material in self._emptied("materials", {}).items():
            self.set_material(name, **material)
        for pair in self._emptied("pairs", []):
            self.set_pair(**pair)
        names = Names()
        for body in self._emptied("bodies", []):
            self.append(body, names)
        adders = {"joints": self.add_joint, "actuators": self.add_actuator, "instruments": self.add_instrument}
        for field_, add in (adders | {"forces": self.add_force}).items():
            for one in self._emptied(field_, []):
                add(one)
        apart = self._emptied("apart", [])
        if isinstance(apart, str) or any(isinstance(pair, str) or len(pair) != 2 for pair in apart):
            raise InputError("apart", apart, "must be a list of pairs of names")
        for pair in apart:
            self.exclude(*pair)

    def _emptied(self, name: str, empty: Any) -> Any:
        """What was given for a field, which is ``empty`` then: what adds to it checks each part."""
        given = getattr(self, name)
        setattr(self, name, empty)
        return given

    def exclude(self, a: str, b: str) -> None:
        """Let two bodies, by name, pass through each other."""
        names = [body.name for body in self.bodies]
        for name in (a, b):
            if name not in names:
                raise InputError("apart", name, f"there is no such body; there are {', '.join(names) or 'none'}")
        if a == b:
            raise InputError("apart", a, "must be two bodies")
        pair = tuple(sorted((a, b)))
        if pair not in self.apart:
            self.apart.append(pair)

    @spelled
    def add(
        self,
        shape: Shape,
        *,
        name: str = "",
        kind: Kind = "dynamic",
        position: Numbers = (0.0, 0.0, 0.0),
        orientation: Numbers | Turn = (1.0, 0.0, 0.0, 0.0),
        velocity: Numbers = (0.0, 0.0, 0.0),
        angular_velocity: Numbers = (0.0, 0.0, 0.0),
        path: Path | None = None,
        density: float | None = None,
        mass: float | None = None,
        inertia: Numbers | Rows | None = None,
        center_of_mass: Numbers | None = None,
        groups: int = 1,
        mask: int = 0xFFFFFFFF,
        sensor: bool = False,
        material: str = "",
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
        surface_velocity: Numbers = (0.0, 0.0, 0.0),
        surface_spin: Numbers = (0.0, 0.0, 0.0),
        color: str | Numbers | None = None,
        finish: Finish | None = None,
        visual: Visual | FileName | None = None,
    ) -> BodyDef:
        """Add a body; the fields are those of :class:`~sim.BodyDef`. Nameless bodies are named box, box_2 ..."""
        return self.append(BodyDef(shape, **made_of(self.materials, said(locals()))))

    def add_force(self, force: Force | Callable[..., Any], bodies: str | Iterable[str] | None = None) -> Force:
        """Add a force, or a function that is one; ``bodies`` names what it acts on, all dynamic bodies by default."""
        force = as_force(force, bodies)
        names = [body.name for body in self.bodies]
        for name in force.on() or ():
            if name not in names:
                raise InputError("bodies", name, f"there is no such body; there are {', '.join(names) or 'none'}")
        self.forces.append(force)
        return force

    def append(self, body: BodyDef, names: Names | None = None) -> BodyDef:
        """Add a ready body; returns it as it stands in the scene, with its name.

        ``names`` of all bodies of the scene, for who adds many.
        """
        names = Names(other.name for other in self.bodies) if names is None else names
        missing = {key: value for key, value in made_of(self.materials, {"material": body.material}).items()
                   if getattr(body, key) is None}  # fmt: skip
        body = body.replace(**missing) if missing else body
        if not body.name:
            body = body.replace(name=names.free(type(body.shape).__name__.lower()))
        elif body.name in names.taken:
            raise InputError("name", body.name, "is taken by another body of the scene")
        names.taken.add(body.name)
        self.bodies.append(body)
        return body

    def _pair(self, a: Any, b: Any, coefficients: dict[str, float]) -> None:
        put_pair(self.pairs, a, b, coefficients)

    def add_joint(self, joint: JointDef) -> JointDef:
        """Add a joint between bodies of the scene, by their names; returns it as it stands in the scene, with its name."""
        if not isinstance(joint, JointDef):
            raise InputError("joint", joint, "must be a joint, such as Hinge(None, arm, axis=(0, 1, 0))")
        kinds = {body.name: body.kind for body in self.bodies}
        for side in ("a", "b"):
            name = getattr(joint, side)
            if name is not None and name not in kinds:
                raise InputError(side, name, f"there is no body of this name in the scene{did_you_mean(name, kinds)}")
        if "dynamic" not in (kinds.get(joint.a), kinds.get(joint.b)):
            raise InputError("a", joint.a, "one of the two bodies must be dynamic")
        joint = with_name(joint, self.joints, "scene")
        self.joints.append(joint)
        return joint

    def add_actuator(self, actuator: Actuator) -> Actuator:
        """Drive a joint of the scene, by its name, by a named input: ``world.controls[actuator.name]``."""
        if not isinstance(actuator, Actuator):
            raise InputError("actuator", actuator, "must be an Actuator")
        driven = [joint.name for joint in self.joints if isinstance(joint, Driven)]
        for name in actuator.joints:
            if name not in driven:
                raise InputError("joint", name, f"must be one with a coordinate of its own: {', '.join(driven) or 'none'}")
        if actuator.name in {other.name for other in self.actuators}:
            raise InputError("name", actuator.name, "is taken by another actuator of the scene")
        self.actuators.append(actuator)
        return actuator

    def add_instrument(self, instrument: Instrument) -> Instrument:
        """Mount an instrument, such as ``Accelerometer("imu", "chassis")``, on what the scene has: each run reads it."""
        if not isinstance(instrument, Instrument):
            raise InputError("instrument", instrument, "must be an instrument, such as Accelerometer(name, body)")
        if instrument.name in {other.name for other in self.instruments}:
            raise InputError("name", instrument.name, "is taken by another instrument of the scene")
        names = ([one.name for one in many] for many in (self.bodies, self.joints, self.actuators))
        check_places(instrument, *names)
        self.instruments.append(instrument)
        return instrument

    def __iter__(self) -> Iterator[BodyDef]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def copied(self) -> Scene:
        """A scene of its own with the same bodies, joints, forces and materials, which are not changed but replaced."""
        out = object.__new__(type(self))
        held = out.__dict__
        held.update(self.__dict__)
        for name, value in self.__dict__.items():
            if value.__class__ is list or value.__class__ is dict:
                held[name] = deepcopy(value) if value and name in ("materials", "pairs", "parameters") else value.copy()
        return out

    @classmethod
    def known(cls, **values: Any) -> Scene:
        """The scene "world" of fields that a world has checked, all lists among them."""
        out = object.__new__(cls)
        out.__dict__.update(_plain(cls).__dict__, parameters={}, **values)
        return out

    def build(self) -> World:
        """A world that starts from this scene."""
        from tumble.sim.world.world import World  # World knows Scene, not the other way round

        return World.from_scene(self)

    def to_dict(self, stored: bool = False) -> dict[str, Any]:
        """Plain numbers, texts, lists and dicts, fit for JSON and TOML. Nothing is lost. ``stored``: for a file that no person
        reads (`Shape.stored`)."""
        out: dict[str, Any] = {"name": self.name}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "camera":
                if value is not None:
                    out["camera"] = value.to_dict()
            elif f.name in ("about", "apart"):
                if value:
                    out[f.name] = plain_value(value)
            elif f.name == "bodies":
                out["bodies"] = [body.to_dict(self.materials.get(body.material), stored) for body in value]
            elif f.name in ("joints", "forces", "actuators", "instruments"):
                if value:
                    out[f.name] = [instrument_to_dict(one) if f.name == "instruments" else one.to_dict() for one in value]
            else:
                out[f.name] = plain_value(value)
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Scene:
        """The inverse of :meth:`to_dict`."""
        check_fields(data, (f.name for f in fields(cls)), "a scene")
        values = dict(data)
        materials = data.get("materials", {})
        values["bodies"] = [BodyDef.from_dict(made_of(materials, body)) for body in data.get("bodies", [])]
        readers = {"joints": joint_from_dict, "forces": force_from_dict, "actuators": Actuator.from_dict}
        for name, read in (readers | {"instruments": instrument_from_dict}).items():
            values[name] = [read(one) for one in data.get(name, [])]
        values["parameters"] = dict(data.get("parameters", {}))
        if data.get("camera") is not None:
            values["camera"] = CameraDef(**data["camera"])
        return cls(**values)


class Names:
    """Names that are taken, and for each stem the number from which on one may be free: names never become free again."""

    def __init__(self, taken: Iterable[str] = ()):
        self.taken = set(taken)
        self._from: dict[str, int] = {}

    def free(self, base: str) -> str:
        """``base``, or base_2, base_3 ... where that is taken."""
        if base not in self.taken:
            return base
        n = self._from.get(base, 2)
        while f"{base}_{n}" in self.taken:
            n += 1
        self._from[base] = n
        return f"{base}_{n}"


def free_name(base: str, taken: set[str]) -> str:
    """``base``, or base_2, base_3 ... where that is taken."""
    return Names(taken).free(base)


def with_name(joint: JointDef, others: Iterable[Any], owner: str) -> JointDef:
    """A joint with its name, or one by its kind; InputError where another one of its ``owner``, a scene or a world, has that."""
    taken = {other.name for other in others}
    if not joint.name:
        return joint.replace(name=free_name(type(joint).__name__.lower(), taken))
    if joint.name in taken:
        raise InputError("name", joint.name, f"is taken by another joint of the {owner}")
    return joint


@cache
def _plain(kind: type[Scene]) -> Scene:
    """A scene with nothing in it."""
    return kind("world")
