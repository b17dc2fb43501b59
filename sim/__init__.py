"""Dynamics: bodies, contact, the ledger. Knows ``collision`` only. What needs the compiler loads on first use."""

from __future__ import annotations

from importlib import import_module

_ROOMS = {
    "World": "world.world",
    "Worlds": "world.worlds",
    "Body": "world.body",
    "BodyDef": "scene.body_definition",
    "Scene": "scene.scene",
    "CameraDef": "scene.scene",
    "UniformGravity": "forces.definitions",
    "CentralGravity": "forces.definitions",
    "Medium": "forces.definitions",
    "MutualGravity": "forces.definitions",
    "Drag": "forces.definitions",
    "Spring": "forces.definitions",
    "ConstantForce": "forces.definitions",
    "TabulatedForce": "forces.definitions",
    "FunctionForce": "forces.definitions",
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
    "Actuator": "joints.mechanism.actuators",
    "Mechanism": "joints.mechanism.mechanism",
    "Accelerometer": "joints.mechanism.instruments",
    "ContactForce": "joints.mechanism.instruments",
    "Encoder": "joints.mechanism.instruments",
    "ForceTorque": "joints.mechanism.instruments",
    "Gyroscope": "joints.mechanism.instruments",
    "Instruments": "joints.mechanism.instruments",
    "RangeFinder": "joints.mechanism.instruments",
    "Readings": "joints.mechanism.instruments",
    "Tracker": "joints.mechanism.instruments",
    "Velocimeter": "joints.mechanism.instruments",
    "Joint": "world.joint",
    "Recorder": "recording.recorder",
    "Every": "recording.observers",
    "EveryTime": "recording.observers",
    "On": "recording.observers",
    "Path": "forces.path",
    "Visual": "scene.visual",
    "Run": "recording.run",
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
