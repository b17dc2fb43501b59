"""Instruments by the names of their kinds, to plain tables and back: as scene files, recordings and saved worlds have them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tumble.collision.errors import InputError
from tumble.collision.spelling import did_you_mean
from tumble.sim.checks import check_fields, typed_values
from tumble.sim.joints.mechanism import instruments, sensors
from tumble.sim.joints.mechanism.instruments import Instrument
from tumble.sim.joints.mechanism.sensors import Frame

INSTRUMENTS: dict[str, type[Instrument]] = {
    "accelerometer": instruments.Accelerometer,
    "gyroscope": instruments.Gyroscope,
    "velocimeter": instruments.Velocimeter,
    "tracker": instruments.Tracker,
    "range_finder": instruments.RangeFinder,
    "contact_force": instruments.ContactForce,
    "force_torque": instruments.ForceTorque,
    "encoder": instruments.Encoder,
    "frame": sensors.FrameSensor,
    "subtree": sensors.SubtreeSensor,
    "coordinate": sensors.CoordinateSensor,
    "actuator": sensors.ActuatorSensor,
    "interaction": sensors.Interaction,
    "touch": sensors.Touch,
    "world": sensors.WorldSensor,
}
KINDS = {made: kind for kind, made in INSTRUMENTS.items()}
FRAMES = ("frame", "reference")  # fields that hold a Frame


def instrument_to_dict(one: Instrument) -> dict[str, Any]:
    """Plain numbers, texts, lists and dicts: its ``type``, and all fields that are not as by default."""
    if type(one) not in KINDS:
        raise InputError("instrument", type(one).__name__, f"can not be written; kinds are {', '.join(INSTRUMENTS)}")
    return {"type": KINDS[type(one)], **one.to_dict()}


def instrument_from_dict(data: dict[str, Any]) -> Instrument:
    """The inverse of :func:`instrument_to_dict`; InputError names what is wrong."""
    made, values = typed_values(data, INSTRUMENTS)
    for key in FRAMES:
        if isinstance(values.get(key), dict):
            check_fields(values[key], (field.name for field in fields(Frame)), f"a {key}")
            values[key] = Frame(**values[key])
    return made(**values)


def check_places(one: Instrument, bodies: list[str], joints: list[str], actuators: list[str]) -> None:
    """InputError where what an instrument is on is not among these names."""
    for name in ("body", "other", "bodies", "joint", "joints", "actuator", *FRAMES):
        value = getattr(one, name, None)
        if isinstance(value, Frame):
            value = value.body
        known = joints if name.startswith("joint") else actuators if name == "actuator" else bodies
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None and each not in known:
                raise InputError(name, each, f"there is none of this name{did_you_mean(each, known)}")
