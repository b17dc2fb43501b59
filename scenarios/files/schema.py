"""What a scene file may say: each key with its type, unit and range. Used by the reader, and in the text of its errors."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tumble.collision.errors import InputError
from tumble.scenarios.fields import Field, Flag, Many, Real, Reals, Rows, Table, Text, Vector, Whole
from tumble.sim.flight.methods.integrators import INTEGRATORS
from tumble.sim.joints.joint_definitions import COORDINATES
from tumble.sim.joints.mechanism.sensors import (
    ACTUATOR_READINGS,
    BETWEEN_READINGS,
    COORDINATE_READINGS,
    FRAME_READINGS,
    REGIONS,
    TREE_READINGS,
    WORLD_READINGS,
)
from tumble.sim.scene.body_definition import BODY_KINDS
from tumble.sim.scene.materials import RESTITUTION_LAWS, RULES
from tumble.sim.scene.visual import FINISHES, RELIEF
from tumble.sim.state import SOLVERS


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


LISTS = (
    "body",
    "repeat",
    "pair",
    "force",
    "joint",
    "actuator",
    "instrument",
    "apart",
)  # of tables or pairs, at the top of a scene file

COLOR = Either(Text(help='a name, "#rrggbb", "#rgb" or three numbers in [0, 1]'), Vector(low=0, high=1), when="list")

SCENE: dict[str, Field] = {
    "name": Text(help="name of the scene; by default that of the file"),
    "gravity": Vector(unit="m/s^2", help="acceleration of gravity; by default (0, 0, -9.81)"),
    "dt": Real(unit="s", above=0, help='length of a step, such as "1/480 s"; by default 1/240 s'),
    "duration": Real(unit="s", low=0, help="how long a run takes, in time of the scene"),
    "integrator": Text(choices=tuple(INTEGRATORS), help="how free flight is computed; by default rk4 (Runge and Kutta, order 4)"),
    "tolerance": Real(
        unit="m/s", above=0, help="largest error of the velocity at a contact that the solver leaves; by default 1e-11"
    ),
    "friction_rule": Text(
        choices=RULES,
        help="how the coefficients of friction of two bodies are combined; by default geometric, the geometric mean",
    ),
    "restitution_rule": Text(choices=RULES, help="the same for restitution; by default max, the larger one"),
    "solver": Text(
        choices=SOLVERS,
        help="how lasting contacts are solved; by default newton, which is accurate; sweeps is faster for large heaps",
    ),
    "restitution_law": Text(
        choices=RESTITUTION_LAWS,
        help="what restitution compares: energies (stronge, the default), impulses or velocities",
    ),
    "sleep_after": Real(
        unit="s", low=0, help="bodies that have been still for so long fall asleep; by default 0, which is never"
    ),
    "sleep_speed": Real(unit="m/s", above=0, help="a body slower than this counts as still"),
    "sleep_spin": Real(unit="rad/s", above=0, help="a body that turns more slowly than this counts as still"),
    "look_ahead": Flag(help="contacts of bodies that turn are followed to the end of each step, so rolling keeps its energy"),
    "quarantine": Flag(
        help="true: a body whose state is no longer a finite number is removed; by default the run ends with an error"
    ),
    "seed": Whole(help="seed of random numbers"),
    "allow_overlap": Flag(help="true: bodies may overlap at the start; by default that is an error"),
}

CAMERA: dict[str, Field] = {
    "position": Vector(unit="m", help="where the camera stands"),
    "target": Vector(unit="m", help="what it looks at"),
    "up": Vector(help="the direction that is up in the picture"),
    "fov_degrees": Real(unit="deg", low=1, high=170, help="field of view from top to bottom"),
}

SURFACE: dict[str, Field] = {
    "friction": Real(low=0, help="Coulomb's coefficient of friction"),
    "static_friction": Real(
        low=0, help="coefficient of friction of a contact that does not slide; by default the same as friction"
    ),
    "restitution": Real(low=0, high=1, help="coefficient of restitution: 0 does not bounce, 1 loses nothing in a bounce"),
    "tangential_restitution": Real(
        low=-1, high=1, help="part of the sliding velocity that an impact turns round: 1 for a superball"
    ),
    "rolling_friction": Real(
        unit="m", low=0, help="rolling resistance: the largest moment against rolling is this times the normal force"
    ),
    "torsional_friction": Real(unit="m", low=0, help="the same against spinning about the contact normal"),
}

MATERIAL: dict[str, Field] = {
    "density": Real(unit="kg/m^3", above=0, help="density, from which the mass follows unless mass is given"),
    **SURFACE,
    "color": COLOR,
    "finish": Text(choices=(*FINISHES, RELIEF), help="how the surface looks in pictures; by default plain; relief is for ground"),
}

PAIR: dict[str, Field] = {
    "a": Text(help="name of a material or of a body"),
    "b": Text(help="name of a material or of a body"),
    **SURFACE,
}

BODY: dict[str, Field] = {
    "name": Text(help="name, which no other body has"),
    "kind": Text(
        choices=BODY_KINDS, help="dynamic moves by the laws of motion, static never, kinematic as it is told; by default dynamic"
    ),
    "groups": Whole(low=1, high=2**32 - 1, help="set of bits: the groups that the body belongs to; by default 1"),
    "mask": Whole(
        low=0,
        high=2**32 - 1,
        help="set of bits: the groups it collides with, if they collide with its own; by default all",
    ),
    "sensor": Flag(help="true: it reports which bodies overlap it, as events, and collides with nothing"),
    "material": Text(help="name of a [material.NAME] table; a key that the body has itself is used instead of the material's"),
    "position": Vector(unit="m", help="where the origin of the body frame is"),
    "orientation": Vector(n=4, help="unit quaternion (w, x, y, z) that turns body axes into world axes"),
    "euler_xyz": Vector(
        unit="rad", help='instead of orientation: angles about x, then the new y, then the new z, such as "30 deg"'
    ),
    "velocity": Vector(unit="m/s", help="velocity of the centre of mass"),
    "angular_velocity": Vector(unit="rad/s", help="angular velocity in world axes"),
    "mass": Real(unit="kg", above=0, help="mass, instead of density"),
    "inertia": Either(
        Vector(
            unit="kg m^2",
            help="about the centre of mass in body axes: three principal moments, or three rows; else that of the shape",
        ),
        Rows(unit="kg m^2", least=3, most=3),
        when="rows",
    ),
    "center_of_mass": Vector(unit="m", help="centre of mass in the body frame; needs inertia too; by default that of the shape"),
    "surface_velocity": Vector(
        unit="m/s", help="velocity of a moving surface, such as a conveyor belt, against its body, in the body frame"
    ),
    "surface_spin": Vector(
        unit="rad/s", help="angular velocity of a moving surface, such as a turntable, about the origin of the body frame"
    ),
    **MATERIAL,
}

PATH: dict[str, Field] = {
    "times": Reals(unit="s", help="times, rising"),
    "positions": Rows(unit="m", help="where the origin of the body frame is, one position for each time"),
    "orientations": Rows(n=4, help="unit quaternions (w, x, y, z), one for each time"),
    "loop": Flag(help="true: the path is repeated for ever; its last pose must be the first one"),
}

VISUAL: dict[str, Field] = {
    "file": Text(help="a mesh drawn in place of the shape: glTF, OBJ, PLY or STL; relative to the scene file"),
    "scale": Real(above=0, help="metres in a unit of the file"),
    "position": Vector(unit="m", help="where it is drawn in the body frame"),
    "orientation": Vector(n=4, help="its attitude in the body frame, a unit quaternion (w, x, y, z)"),
}


def _length(text: str) -> Real:
    return Real(unit="m", above=0, help=text)


SHAPES: dict[str, dict[str, Field]] = {
    "box": {"half_extents": Vector(unit="m", above=0, help="half the lengths of the edges along x, y and z")},
    "sphere": {"radius": _length("radius")},
    "capsule": {
        "radius": _length("radius of the tube and of its round ends"),
        "half_length": _length("half the distance of the centres of the ends, which lie on z"),
    },
    "cylinder": {"radius": _length("radius"), "half_length": _length("half the length along z")},
    "cone": {
        "radius": _length("radius of the base"),
        "half_height": _length("half the height along z, from the base to the tip"),
    },
    "ellipsoid": {"radii": Vector(unit="m", above=0, help="half axes along x, y and z")},
    "hull": {"vertices": Rows(unit="m", help="points, of which the shape is the convex hull")},
    "height_field": {
        "heights": Many(
            of=Reals(unit="m"),
            help="heights: each list is a row along x, all of the same length; the middle of the field is at the origin",
        ),
        "file": Text(help="instead of heights: a picture whose brightness gives the heights; relative to the scene file"),
        "low": Real(unit="m", help="height of black in the picture; by default 0"),
        "high": Real(unit="m", help="height of white in the picture; by default 1"),
        "cell": Real(unit="m", above=0, help="distance of neighbouring heights"),
        "smooth": Flag(help="false: drawn as flat triangles, not as a curved surface; by default true"),
    },
    "triangle_mesh": {
        "file": Text(
            help="a mesh file (STL, OBJ, PLY, glTF), relative to the scene file; used as it is, as the ground of a static body"
        ),
        "vertices": Rows(unit="m", help="instead of a file: points, and"),
        "triangles": Many(
            of=Many(of=Whole(low=0)), help="triangles: three numbers of points each, counter-clockwise seen from outside"
        ),
        "scale": Real(above=0, help="metres in a unit of the file: 0.001 for millimetres; by default 1"),
        "two_sided": Flag(help="true: bodies touch it from both sides; by default true unless the surface is closed"),
        "smooth": Flag(help="false: drawn as flat triangles, not as a curved surface where they bend little; by default true"),
    },
    "halfspace": {
        "normal": Vector(help="direction that points out of the ground; by default (0, 0, 1)"),
        "offset": Real(unit="m", help="distance of its surface from the origin along the normal; by default 0"),
    },
    "mesh": {
        "file": Text(help="a mesh file (STL, OBJ, PLY, glTF), relative to the scene file"),
        "scale": Real(above=0, help="metres in a unit of the file: 0.001 for millimetres; by default 1"),
        "convex": Text(
            choices=("decompose", "hull"),
            help="decompose cuts the mesh into convex pieces, hull takes its convex hull; by default decompose",
        ),
        "part": Whole(
            low=1, help="which of the closed surfaces of the file, counted from 1; by default all of them, as one body"
        ),
    },
    "rounded": {"radius": Real(unit="m", above=0, help="radius of the ball that is added to the shape within")},  # shape: a table
    "torus": {
        "major_radius": Real(unit="m", above=0, help="radius of the ring's middle line, which lies around z"),
        "minor_radius": Real(unit="m", above=0, help="radius of the tube"),
        "segments": Whole(low=8, high=1024, help="number of capsules that it is made of; by default 32"),
    },
    "compound": {  # parts: each a table with shape, position, orientation or euler_xyz
        "volume": Real(
            unit="m^3",
            above=0,
            help="true volume of the body, together with center and inertia, if the parts only come near its true form",
        ),
        "center": Vector(unit="m", help="true centre of mass"),
        "inertia": Rows(unit="m^5", least=3, most=3, help="true inertia tensor about that centre, for a density of 1 kg/m^3"),
    },
}
OPTIONAL = {
    ("halfspace", "normal"),
    ("halfspace", "offset"),
    ("mesh", "scale"),
    ("mesh", "convex"),
    ("mesh", "part"),
    ("torus", "segments"),
    *(("height_field", name) for name in ("heights", "file", "low", "high", "smooth")),
    *(("triangle_mesh", name) for name in ("file", "vertices", "triangles", "scale", "two_sided", "smooth")),
}
OPTIONAL |= {("compound", name) for name in SHAPES["compound"]}

_ON = {"bodies": Many(of=Text(), help="names of the bodies it acts on; by default all dynamic ones")}
_FRAME = {
    "frame": Text(
        choices=("world", "body"),
        help="whether force and torque keep their directions in the world, or turn with the body; by default world",
    ),
    "point": Vector(unit="m", help="point in the body frame where the force acts; by default the centre of mass"),
}
FORCES: dict[str, dict[str, Field]] = {
    "uniform_gravity": {"acceleration": Vector(unit="m/s^2", help="acceleration, added to the scene's gravity"), **_ON},
    "central_gravity": {
        "gm": Real(unit="m^3/s^2", low=0, help="gravitational constant times the mass at the centre"),
        "center": Vector(unit="m", help="centre of attraction in the world"),
        "gradient": Flag(help="true: gravity also turns the body, as it is stronger at its near end"),
        **_ON,
    },
    "mutual_gravity": {
        "constant": Real(unit="m^3/(kg s^2)", low=0, help="gravitational constant; by default Newton's, 6.674e-11"),
        "softening": Real(unit="m", low=0, help="length whose square is added to the square of the distance"),
        **_ON,
    },
    "drag": {
        "linear": Real(unit="N s/m", low=0, help="force for each m/s of speed"),
        "quadratic": Real(unit="N s^2/m^2", low=0, help="force for each m²/s² of squared speed"),
        "spin_linear": Real(unit="N m s", low=0, help="torque for each rad/s of angular speed"),
        "spin_quadratic": Real(unit="N m s^2", low=0, help="torque for each rad²/s² of squared angular speed"),
        "wind": Vector(unit="m/s", help="velocity of the air or liquid"),
        **_ON,
    },
    "medium": {
        "density": Real(
            unit="kg/m^3",
            low=0,
            help="its resistance grows with the square of the speed, and is that of a box of the body's size",
        ),
        "viscosity": Real(
            unit="Pa s",
            low=0,
            help="its resistance grows with the speed, and is that of a ball of the body's size",
        ),
        "wind": Vector(unit="m/s", help="velocity of the air or liquid"),
        **_ON,
    },
    "spring": {
        "a": Text(help="name of a body"),
        "b": Text(help="name of another body; by default the other end is a point of the world"),
        "stiffness": Real(unit="N/m", low=0, help="force for each metre of stretch"),
        "length": Real(unit="m", low=0, help="length at which it gives no force"),
        "damping": Real(unit="N s/m", low=0, help="force for each m/s at which its ends part"),
        "anchor_a": Vector(unit="m", help="where it is fixed, in the frame of a"),
        "anchor_b": Vector(unit="m", help="where it is fixed, in the frame of b, or of the world"),
        "slack": Flag(help="true: it pulls but does not push, as a rubber band"),
    },
    "constant": {
        "force": Vector(unit="N", help="force on each body"),
        "torque": Vector(unit="N m", help="torque on each body"),
        **_FRAME,
        **_ON,
    },
    "tabulated": {
        "times": Many(of=Real(unit="s"), help="times, rising"),
        "forces": Rows(unit="N", help="a force for each time, linear in between"),
        "torques": Rows(unit="N m", help="a torque for each time, linear in between"),
        **_FRAME,
        **_ON,
    },
}

PART: dict[str, Field] = {key: BODY[key] for key in ("position", "orientation", "euler_xyz")}

_ENDS: dict[str, Field] = {
    "a": Text(help="name of a body; by default the world"),
    "b": Text(help="name of a body; by default the world"),
    "name": Text(help="name, which no other joint has"),
    "collide": Flag(help="true: the two bodies can also collide with each other; by default false"),
}
_ANCHOR: dict[str, Field] = {"anchor": Vector(unit="m", help="place of the joint in the world at the start")}
_AXIS: dict[str, Field] = {"axis": Vector(help="direction of its axis in the world at the start")}


def _driven(length: str, force: str, motor: str) -> dict[str, Field]:
    """Keys of a joint with a free coordinate of unit ``length``; without units where it may be a length or an angle."""
    per = (f"{force}/{length}", f"{force} s/{length}", f"{length}/s") if length else ("", "", "")
    return {
        "limits": Ends(unit=length, help="lowest and highest value of the joint's coordinate"),
        "stiffness": Real(low=0, unit=per[0], help="stiffness of a spring along the coordinate"),
        "damping": Real(low=0, unit=per[1], help="damping along the coordinate"),
        "rest": Real(unit=length, help="coordinate at which the spring gives no force"),
        "friction": Real(low=0, unit=force, help="largest force or torque of dry friction in the joint"),
        "armature": Real(low=0, help="inertia of a motor's rotor, felt along the coordinate: kg m^2, or kg"),
        "reference": Real(unit=length, help="value of the coordinate at the start; by default 0"),
        "motor_speed": Real(unit=per[2], help="speed that the motor keeps"),
        motor: Real(low=0, unit=force, help="largest force or torque of the motor"),
    }


_GENERAL: dict[str, Field] = {
    **_ANCHOR,
    "axis": Vector(help="x axis of the joint, in the world at the start"),
    "axis_y": Vector(help="y axis of the joint, perpendicular to its x axis"),
    "reverse": Flag(help="true: the driven coordinate counts in the opposite direction"),
}
_FREE = Many(
    of=Text(choices=COORDINATES), help="coordinates in which the bodies can move against each other; the others are held"
)
_DRIVEN = Text(choices=COORDINATES, help="coordinate along which limits, spring and motor act")

JOINTS: dict[str, dict[str, Field]] = {
    "point": {**_ENDS, **_ANCHOR, "friction": Real(low=0, unit="N m", help="largest torque of dry friction in the joint")},
    "hinge": {**_ENDS, **_ANCHOR, **_AXIS, **_driven("rad", "N m", "motor_torque")},
    "slider": {**_ENDS, **_ANCHOR, **_AXIS, **_driven("m", "N", "motor_force")},
    "fixed": {**_ENDS, **_ANCHOR},
    "distance": {
        **_ENDS,
        "anchor_a": Vector(unit="m", help="place in the world at the start where it is fixed to the body"),
        "anchor_b": Vector(unit="m", help="place in the world at the start where it is fixed to the body"),
        "length": Real(unit="m", above=0, help="length of a rigid rod; by default the distance at the start"),
        **_driven("m", "N", "motor_force"),
    },
    "universal": {
        **_ENDS,
        **_ANCHOR,
        **_AXIS,
        "axis_b": Vector(help="axis in body b, perpendicular to axis, which is the one in body a"),
    },
    "general": {**_ENDS, **_GENERAL, "free": _FREE, "driven": _DRIVEN, **_driven("", "", "motor_force")},
    "drive": {**_ENDS, **_GENERAL, "driven": _DRIVEN, **_driven("", "", "motor_force")},
    "wheel": {**_ENDS, **_GENERAL, **_driven("m", "N", "motor_force")},
    "gear": {
        **_ENDS,
        **{f"center_{side}": Vector(unit="m", help=f"centre of wheel {side}") for side in "ab"},
        **{f"axis_{side}": Vector(help=f"axis about which wheel {side} turns") for side in "ab"},
        **{
            f"teeth_{side}": Whole(help=f"number of teeth of wheel {side}; negative for a ring with teeth inside")
            for side in "ab"
        },
    },
    "screw": {
        **_ENDS,
        **_ANCHOR,
        **_AXIS,
        "pitch": Real(unit="m", help="way along the axis in one turn; negative for a left-hand thread"),
    },
}

ACTUATOR: dict[str, Field] = {
    "name": Text(help="name of its control, which no other actuator has"),
    "joint": Text(help="the joint that it drives"),
    "gain": Real(help="force for each unit of the control; by default 1"),
    "gear": Real(help="change of its length for each unit of the joint's coordinate; by default 1"),
    "bias": Vector(help="force added: constant, by length, by speed; a servo of stiffness k has gain k and bias [0, -k, 0]"),
    "control_range": Ends(help="lowest and highest value of the control"),
    "force_range": Ends(help="lowest and highest value of the force"),
    "times": Reals(unit="s", help="times, rising; by default the control is set while the world runs"),
    "controls": Reals(help="values of the control at these times: linear in between, constant before and after"),
    "tendon": Many(of=Text(), help="names of further joints whose coordinates add to its length"),
    "coefficients": Reals(help="factors of these coordinates: first that of the joint, then those of the tendon"),
}

_READS: dict[str, Field] = {
    "name": Text(help="name of its readings, which no other instrument has"),
    "rate": Real(unit="1/s", above=0, help="readings a second; by default one at each step"),
    "noise": Real(low=0, help="standard deviation of the noise of each number, in its unit; by default 0"),
    "seed": Whole(low=0, help="seed of the noise; by default 0"),
}
_SITE: dict[str, Field] = {
    "body": Text(help="name of the body that it is on"),
    "position": Vector(unit="m", help="place in the frame of the body"),
    "orientation": Vector(n=4, help="quaternion (w, x, y, z): its axes in the frame of the body"),
}
_SEAT = {key: _SITE[key] for key in _SITE if key != "body"} | {"body": Text(help="name of a body; by default the world")}
_JOINT: dict[str, Field] = {"joint": Text(help="name of the joint")}
_JOINTS_READ = Many(of=Text(), help="names of joints")


def _of(readings: Mapping[str, object]) -> dict[str, Field]:
    return {"of": Text(choices=tuple(readings), help="what it reads")}


INSTRUMENTS: dict[str, dict[str, Field]] = {
    "accelerometer": {**_READS, **_SITE},
    "gyroscope": {**_READS, **_SITE},
    "velocimeter": {**_READS, **_SITE},
    "tracker": {**_READS, **_SITE},
    "range_finder": {
        **_READS,
        **_SITE,
        "direction": Vector(help="where it looks, in its own axes; by default (0, 0, 1)"),
        "reach": Real(unit="m", above=0, help="how far it sees; by default without end"),
    },
    "contact_force": {
        **_READS,
        "body": Text(help="name of the body that is pressed"),
        "other": Text(help="name of the body that presses; by default all"),
    },
    "force_torque": {**_READS, **_JOINT},
    "encoder": {**_READS, **_JOINT},
    "frame": {
        **_READS,
        "frame": Table(of=_SEAT, help="what it tells of"),
        **_of(FRAME_READINGS),
        "reference": Table(of=_SEAT, help="as seen from there; by default the world"),
    },
    "subtree": {**_READS, "bodies": Many(of=Text(), help="names of bodies"), **_of(TREE_READINGS)},
    "coordinate": {
        **_READS,
        "joints": _JOINTS_READ,
        **_of(COORDINATE_READINGS),
        "coefficients": Reals(help="factors of their coordinates; by default 1"),
    },
    "actuator": {**_READS, "actuator": Text(help="name of the actuator"), **_of(ACTUATOR_READINGS)},
    "interaction": {
        **_READS,
        "frame": Table(of=_SEAT, help="on the body that the joints hold"),
        "joints": _JOINTS_READ,
        **_of(BETWEEN_READINGS),
    },
    "touch": {
        **_READS,
        **_SITE,
        "region": Text(choices=tuple(REGIONS), help="shape of the region that feels; by default sphere"),
        "size": Reals(unit="m", above=0, help="half lengths of the region; by default the whole body feels"),
    },
    "world": {**_READS, **_of(WORLD_READINGS)},
}
