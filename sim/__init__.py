"""Dynamics: bodies, contact, the ledger. Knows ``collision`` only. What needs the compiler loads on first use."""

from __future__ import annotations

from importlib import import_module

_ROOMS = {
    "World": "world",
    "Worlds": "worlds",
    "Body": "body",
    "BodyDef": "bodies",
    "Scene": "scene",
    "CameraDef": "scene",
    "UniformGravity": "forces",
    "CentralGravity": "forces",
    "Medium": "forces",
    "MutualGravity": "forces",
    "Drag": "forces",
    "Spring": "forces",
    "ConstantForce": "forces",
    "TabulatedForce": "forces",
    "FunctionForce": "forces",
    "Point": "joints.definitions",
    "Hinge": "joints.definitions",
    "Slider": "joints.definitions",
    "Fixed": "joints.definitions",
    "Distance": "joints.definitions",
    "Universal": "joints.definitions",
    "General": "joints.definitions",
    "Drive": "joints.definitions",
    "Wheel": "joints.definitions",
    "Gear": "joints.definitions",
    "Screw": "joints.definitions",
    "Actuator": "mechanism.actuators",
    "Mechanism": "mechanism.mechanism",
    "Accelerometer": "instruments",
    "ContactForce": "instruments",
    "Encoder": "instruments",
    "ForceTorque": "instruments",
    "Gyroscope": "instruments",
    "Instruments": "instruments",
    "RangeFinder": "instruments",
    "Readings": "instruments",
    "Tracker": "instruments",
    "Velocimeter": "instruments",
    "Joint": "joints.joint",
    "Recorder": "recording",
    "Every": "observers",
    "EveryTime": "observers",
    "On": "observers",
    "Path": "path",
    "Visual": "visual",
    "Run": "run",
    "InputError": "errors",
    "RecordingError": "errors",
    "SimulationError": "errors",
}
__all__ = list(_ROOMS)


def __getattr__(name: str):
    if name not in _ROOMS:
        raise import_module("collision.spelling").not_in(__name__, name, __all__)
    return getattr(import_module(f"sim.{_ROOMS[name]}"), name)


def __dir__():
    return sorted(__all__)
