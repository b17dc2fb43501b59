"""What a scene file may say: each key with its type, unit and range. Used by the reader, and in the text of its errors."""

from __future__ import annotations

import math

from collision.errors import InputError
from scenarios.fields import Field, Flag, Many, Real, Reals, Rows, Text, Vector, Whole
from sim.bodies import KINDS
from sim.integrators import TABLE
from sim.joints.definitions import COORDINATES
from sim.materials import RESTITUTION_LAWS, RULES
from sim.state import SOLVERS
from sim.visual import FINISHES


class Either(Field):
    """A field that takes one of two forms: the second where the value is a list of lists, or a list."""

    def __init__(self, first: Field, second: Field, when: type | str):
        object.__setattr__(self, "help", first.help)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)
        object.__setattr__(self, "when", when)

    def read(self, name, value):
        nested = isinstance(value, list) and bool(value) and isinstance(value[0], list)
        second = nested if self.when == "rows" else isinstance(value, list)
        return (self.second if second else self.first).read(name, value)


class Ends(Real):
    """Two numbers (low, high); either may be infinite."""

    def read(self, name, value):
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise InputError(name, value, "must be two numbers, low and high; inf and -inf are allowed")
        return tuple(x if isinstance(x, float) and math.isinf(x) else Real.read(self, name, x) for x in value)


LISTS = ("body", "repeat", "pair", "force", "joint", "actuator", "apart")  # of tables or pairs, at the top of a scene file

COLOR = Either(Text(help='a name, "#rrggbb", "#rgb" or three numbers in [0, 1]'), Vector(low=0, high=1), when="list")

SCENE: dict[str, Field] = {
    "name": Text(help="of the scene; the file's name where it is left out"),
    "gravity": Vector(unit="m/s^2", help="(0, 0, -9.81) where it is left out"),
    "dt": Real(unit="s", above=0, help='the step; "1/240 s" is fine'),
    "duration": Real(unit="s", low=0, help="of a run"),
    "integrator": Text(choices=tuple(TABLE), help="of the free flight; rk4 where it is left out"),
    "tolerance": Real(unit="m/s", above=0, help="no contact's velocity is off by more; 1e-11 where it is left out"),
    "friction_rule": Text(choices=RULES, help="how the friction of two bodies combines; geometric where it is left out"),
    "restitution_rule": Text(choices=RULES, help="the same for restitution; max where it is left out"),
    "solver": Text(choices=SOLVERS, help="of resting contact; newton where it is left out, sweeps for large heaps"),
    "restitution_law": Text(choices=RESTITUTION_LAWS, help="what ends an impact; stronge where it is left out"),
    "sleep_after": Real(unit="s", low=0, help="of stillness after which an island falls asleep; 0: never"),
    "sleep_speed": Real(unit="m/s", above=0, help="what still is"),
    "sleep_spin": Real(unit="rad/s", above=0, help="what still is, turning"),
    "look_ahead": Flag(help="contacts of bodies that turn are followed to the end of each step: rolling keeps its energy"),
    "quarantine": Flag(help="bodies whose state stops being finite are taken out, and the run goes on"),
    "seed": Whole(help="of random numbers"),
    "allow_overlap": Flag(help="bodies may start inside each other"),
}

CAMERA: dict[str, Field] = {
    "position": Vector(unit="m", help="where the camera stands"),
    "target": Vector(unit="m", help="what it looks at"),
    "up": Vector(help="the direction that is up in the picture"),
    "fov_degrees": Real(unit="deg", low=1, high=170, help="field of view from top to bottom"),
}

SURFACE: dict[str, Field] = {
    "friction": Real(low=0, help="Coulomb's coefficient"),
    "static_friction": Real(low=0, help="of a contact that sticks; as friction where it is left out"),
    "restitution": Real(low=0, high=1, help="0 does not bounce, 1 bounces for ever"),
    "tangential_restitution": Real(low=-1, high=1, help="of the slip in an impact: 1 turns it round, as for a superball"),
    "rolling_friction": Real(unit="m", low=0, help="arm of the moment against rolling"),
    "torsional_friction": Real(unit="m", low=0, help="arm of the moment against spinning about the normal"),
}

MATERIAL: dict[str, Field] = {
    "density": Real(unit="kg/m^3", above=0, help="used where mass is not given"),
    **SURFACE,
    "color": COLOR,
    "finish": Text(choices=FINISHES, help="how the surface takes the light in pictures; plain where it is left out"),
}

PAIR: dict[str, Field] = {
    "a": Text(help="name of a material or of a body"),
    "b": Text(help="name of a material or of a body"),
    **SURFACE,
}

BODY: dict[str, Field] = {
    "name": Text(help="unique"),
    "kind": Text(choices=KINDS, help="dynamic where it is left out"),
    "groups": Whole(low=1, high=2**32 - 1, help="bits: what the body is"),
    "mask": Whole(low=0, high=2**32 - 1, help="bits: what it meets; each of two bodies must have a bit of the other's groups"),
    "sensor": Flag(help="feels overlap, which makes events, and touches nothing"),
    "material": Text(help="name of a [material.NAME] table; keys of the body itself come first"),
    "position": Vector(unit="m", help="of the body frame's origin"),
    "orientation": Vector(n=4, help="unit quaternion (w, x, y, z), body to world"),
    "euler_xyz": Vector(unit="rad", help='instead of orientation: turns about x, the new y, the new z; "30 deg" is fine'),
    "velocity": Vector(unit="m/s", help="of the centre of mass"),
    "angular_velocity": Vector(unit="rad/s", help="in world axes"),
    "mass": Real(unit="kg", above=0, help="in place of density"),
    "inertia": Either(
        Vector(unit="kg m^2", help="about the centre of mass, body axes: 3 principal moments or 3 rows"),
        Rows(unit="kg m^2", least=3, most=3),
        when="rows",
    ),
    "center_of_mass": Vector(unit="m", help="in the body frame; needs inertia too"),
    "surface_velocity": Vector(unit="m/s", help="of a conveyor's surface, in the body frame"),
    "surface_spin": Vector(unit="rad/s", help="of a turntable's surface, about the body frame's origin"),
    **MATERIAL,
}

PATH: dict[str, Field] = {
    "times": Reals(unit="s", help="of the world, rising"),
    "positions": Rows(unit="m", help="of the body frame's origin, one for each time"),
    "orientations": Rows(n=4, help="unit quaternions (w, x, y, z), one for each time"),
    "loop": Flag(help="go round for ever; the last pose is the first"),
}

VISUAL: dict[str, Field] = {
    "file": Text(help="a mesh drawn in place of the shape: glTF, OBJ, PLY or STL; relative to the scene file"),
    "scale": Real(above=0, help="file units to metres"),
    "position": Vector(unit="m", help="in the body frame"),
    "orientation": Vector(n=4, help="unit quaternion (w, x, y, z) in the body frame"),
}


def _length(text: str) -> Real:
    return Real(unit="m", above=0, help=text)


SHAPES: dict[str, dict[str, Field]] = {
    "box": {"half_extents": Vector(unit="m", above=0, help="half of the edges")},
    "sphere": {"radius": _length("of the ball")},
    "capsule": {"radius": _length("of the round ends"), "half_length": _length("half the way between their centres, along z")},
    "cylinder": {"radius": _length("of the ends"), "half_length": _length("half the way between them, along z")},
    "cone": {"radius": _length("of the base"), "half_height": _length("half the way from base to tip, along z")},
    "ellipsoid": {"radii": Vector(unit="m", above=0, help="half axes along x, y and z")},
    "hull": {"vertices": Rows(unit="m", help="points; the shape is their convex hull")},
    "height_field": {
        "heights": Many(of=Reals(unit="m"), help="rows of equally many, along x; the middle of the field is at the origin"),
        "file": Text(help="instead of heights: a picture, relative to the scene file; its brightness tells the height"),
        "low": Real(unit="m", help="height of the darkest possible value of a picture; 0 where it is left out"),
        "high": Real(unit="m", help="height of the brightest; 1 where it is left out"),
        "cell": Real(unit="m", above=0, help="from one sample to the next"),
    },
    "triangle_mesh": {
        "file": Text(help="STL, OBJ, PLY, glTF; relative to the scene file: ground as it is, for a static body"),
        "vertices": Rows(unit="m", help="instead of a file: points ..."),
        "triangles": Many(of=Many(of=Whole(low=0)), help="... and triples of them, counter-clockwise seen from outside"),
        "scale": Real(above=0, help="file units to metres, 0.001 for millimetres"),
        "two_sided": Flag(help="touched from behind as well; a closed surface is not where it is left out"),
    },
    "halfspace": {"normal": Vector(help="out of the ground"), "offset": Real(unit="m", help="along the normal")},
    "mesh": {
        "file": Text(help="STL, OBJ, PLY, glTF; relative to the scene file"),
        "scale": Real(above=0, help="file units to metres, 0.001 for millimetres"),
        "convex": Text(choices=("decompose", "hull"), help="cut into convex pieces, or take the convex hull"),
        "part": Whole(low=1, help="which of the closed bodies of the file; all of them, as one body, where it is left out"),
    },
    "rounded": {"radius": Real(unit="m", above=0, help="of the ball that is added to the shape within")},  # shape: a table
    "torus": {
        "major_radius": Real(unit="m", above=0, help="of the ring's middle line, about z"),
        "minor_radius": Real(unit="m", above=0, help="of the tube"),
        "segments": Whole(low=8, high=1024, help="capsules that it is made of; 32 where it is left out"),
    },
    "compound": {  # parts: each a table with shape, position, orientation or euler_xyz
        "volume": Real(
            unit="m^3", above=0, help="of the body itself, with center and inertia, where the parts only come near it"
        ),
        "center": Vector(unit="m", help="its centre of mass"),
        "inertia": Rows(unit="m^5", least=3, most=3, help="its tensor at density 1 about the centre"),
    },
}
OPTIONAL = {
    ("halfspace", "normal"),
    ("halfspace", "offset"),
    ("mesh", "scale"),
    ("mesh", "convex"),
    ("mesh", "part"),
    ("torus", "segments"),
    *(("height_field", name) for name in ("heights", "file", "low", "high")),
    *(("triangle_mesh", name) for name in ("file", "vertices", "triangles", "scale")),
    ("triangle_mesh", "two_sided"),
}
OPTIONAL |= {("compound", name) for name in SHAPES["compound"]}

_ON = {"bodies": Many(of=Text(), help="names of the bodies it acts on; all dynamic ones where it is left out")}
_FRAME = {
    "frame": Text(choices=("world", "body"), help="whose axes the force and torque keep to; world where it is left out"),
    "point": Vector(unit="m", help="of the body frame where the force acts; the centre of mass where it is left out"),
}
FORCES: dict[str, dict[str, Field]] = {
    "uniform_gravity": {"acceleration": Vector(unit="m/s^2", help="besides the scene's gravity"), **_ON},
    "central_gravity": {
        "gm": Real(unit="m^3/s^2", low=0, help="G times the mass at the centre"),
        "center": Vector(unit="m", help="of attraction, in the world"),
        "gradient": Flag(help="the extent of the body is felt too: gravity-gradient torque"),
        **_ON,
    },
    "mutual_gravity": {
        "constant": Real(unit="m^3/(kg s^2)", low=0, help="Newton's where it is left out"),
        "softening": Real(unit="m", low=0, help="added to the square of the distance"),
        **_ON,
    },
    "drag": {
        "linear": Real(unit="N s/m", low=0, help="force by speed"),
        "quadratic": Real(unit="N s^2/m^2", low=0, help="force by speed squared"),
        "spin_linear": Real(unit="N m s", low=0, help="torque by angular speed"),
        "spin_quadratic": Real(unit="N m s^2", low=0, help="torque by angular speed squared"),
        "wind": Vector(unit="m/s", help="velocity of the medium"),
        **_ON,
    },
    "medium": {
        "density": Real(unit="kg/m^3", low=0, help="resistance by the square of the speed, as of boxes"),
        "viscosity": Real(unit="Pa s", low=0, help="resistance by speed, as of balls"),
        "wind": Vector(unit="m/s", help="velocity of the medium"),
        **_ON,
    },
    "spring": {
        "a": Text(help="name of a body"),
        "b": Text(help="name of another; left out, the other end is a point of the world"),
        "stiffness": Real(unit="N/m", low=0, help="force by length"),
        "length": Real(unit="m", low=0, help="at rest"),
        "damping": Real(unit="N s/m", low=0, help="force by speed of its ends"),
        "anchor_a": Vector(unit="m", help="in the frame of a"),
        "anchor_b": Vector(unit="m", help="in the frame of b, or of the world"),
        "slack": Flag(help="it pulls but does not push"),
    },
    "constant": {
        "force": Vector(unit="N", help="on each body"),
        "torque": Vector(unit="N m", help="on each body"),
        **_FRAME,
        **_ON,
    },
    "tabulated": {
        "times": Many(of=Real(unit="s"), help="rising"),
        "forces": Rows(unit="N", help="one for each time"),
        "torques": Rows(unit="N m", help="one for each time"),
        **_FRAME,
        **_ON,
    },
}

PART: dict[str, Field] = {key: BODY[key] for key in ("position", "orientation", "euler_xyz")}

_ENDS: dict[str, Field] = {
    "a": Text(help="name of a body; the world where it is left out"),
    "b": Text(help="name of a body; the world where it is left out"),
    "name": Text(help="unique"),
    "collide": Flag(help="the two bodies also touch each other"),
}
_ANCHOR: dict[str, Field] = {"anchor": Vector(unit="m", help="in the world, as the bodies stand at the start")}
_AXIS: dict[str, Field] = {"axis": Vector(help="direction in the world, as the bodies stand at the start")}


def _driven(length: str, force: str, motor: str) -> dict[str, Field]:
    """Keys of a joint with a free coordinate of unit ``length``."""
    return {
        "limits": Ends(unit=length, help="low and high end of the coordinate"),
        "stiffness": Real(low=0, unit=f"{force}/{length}", help="of a spring"),
        "damping": Real(low=0, unit=f"{force} s/{length}", help="of a damper"),
        "rest": Real(unit=length, help="where the spring is slack"),
        "friction": Real(low=0, unit=force, help="largest dry friction"),
        "armature": Real(low=0, help="moment of inertia or mass of a rotor on the coordinate"),
        "reference": Real(unit=length, help="the coordinate of the pose at the start"),
        "motor_speed": Real(unit=f"{length}/s", help="what the motor keeps"),
        motor: Real(low=0, unit=force, help="the most that the motor gives"),
    }


_GENERAL: dict[str, Field] = {
    **_ANCHOR,
    "axis": Vector(help="the x axis, in the world"),
    "axis_y": Vector(help="the y axis, perpendicular to it"),
    "reverse": Flag(help="the driven coordinate counts the other way"),
}
_FREE = Many(of=Text(choices=COORDINATES), help="coordinates that are free")
_DRIVEN = Text(choices=COORDINATES, help="the coordinate that limits, spring, motor act along")

JOINTS: dict[str, dict[str, Field]] = {
    "point": {**_ENDS, **_ANCHOR, "friction": Real(low=0, unit="N m", help="largest torque against turning")},
    "hinge": {**_ENDS, **_ANCHOR, **_AXIS, **_driven("rad", "N m", "motor_torque")},
    "slider": {**_ENDS, **_ANCHOR, **_AXIS, **_driven("m", "N", "motor_force")},
    "fixed": {**_ENDS, **_ANCHOR},
    "distance": {
        **_ENDS,
        "anchor_a": Vector(unit="m", help="in the world, as the bodies stand at the start"),
        "anchor_b": Vector(unit="m", help="in the world, as the bodies stand at the start"),
        "length": Real(unit="m", above=0, help="of a rigid rod; the distance at the start where it is left out"),
        **_driven("m", "N", "motor_force"),
    },
    "universal": {**_ENDS, **_ANCHOR, **_AXIS, "axis_b": Vector(help="the axis of b, perpendicular to axis, which is of a")},
    "general": {**_ENDS, **_GENERAL, "free": _FREE, "driven": _DRIVEN, **_driven("", "", "motor_force")},
    "drive": {**_ENDS, **_GENERAL, "driven": _DRIVEN, **_driven("", "", "motor_force")},
    "wheel": {**_ENDS, **_GENERAL, **_driven("m", "N", "motor_force")},
    "gear": {
        **_ENDS,
        **{f"center_{side}": Vector(unit="m", help=f"the middle of wheel {side}") for side in "ab"},
        **{f"axis_{side}": Vector(help=f"about which wheel {side} turns") for side in "ab"},
        **{f"teeth_{side}": Whole(help=f"of wheel {side}; negative for a ring, toothed inside") for side in "ab"},
    },
    "screw": {**_ENDS, **_ANCHOR, **_AXIS, "pitch": Real(unit="m", help="travel in a turn; negative: a left-hand thread")},
}

ACTUATOR: dict[str, Field] = {
    "name": Text(help="unique; the name of its control"),
    "joint": Text(help="the joint that it drives"),
    "gain": Real(help="force by control"),
    "gear": Real(help="how much its length changes by the coordinate"),
    "bias": Vector(help="constant force, by length, by speed: a servo of stiffness k has gain k and bias [0, -k, 0]"),
    "control_range": Ends(help="low and high end of the control"),
    "force_range": Ends(help="low and high end of the force"),
    "times": Reals(unit="s", help="rising; left out, the control is set while the world runs"),
    "controls": Reals(help="as many: linear in between, and those of the ends before and after"),
    "tendon": Many(of=Text(), help="names of more joints, whose coordinates count too"),
    "coefficients": Reals(help="of the joint, and of those of the tendon: how much each counts"),
}
