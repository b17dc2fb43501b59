"""Dynamics: bodies, contact, the ledger. Knows ``collision`` only. What needs the compiler loads on first use.

One step is sim/pipeline.py, a page. Each room below has a page at its head, its ``__init__``; a room imports those above it only:

    solvers     impulses of many contacts and joints at once
    ledger      where every joule went; energies, events, promises
    forces      gravity, springs, drag, forces of the user; paths of driven bodies
    flight      free flight and its integrators
    joints      joints, mechanisms, actuators, instruments
    contact     what touches at a step, and the solve that lets it rest, roll or slide
    scene       what a simulation starts from, as data
    impact      collisions at their own instants; heaps
    recording   what happened, kept and read again
    world       what users call

In the hall: errors.py and checks.py (bad input), words.py (texts of messages), files.py (files that are whole or not there),
pace.py (what is due again when), sorted_lists.py, equations.py (of motion), state.py (all arrays); and on top of the rooms
pipeline.py, assemble.py (joints of a state set from outside), readout.py (one body or joint as numbers) and compiled.py (the
library of what Python calls).
"""

from __future__ import annotations

if __name__ == "sim":  # found by its folder: without this a second copy of all of it would load
    from tumble.short_names import stand_in

    stand_in(__name__)

from importlib import import_module

_HOME = {
    "World": "world.world",
    "Worlds": "world.worlds",
    "Body": "world.body",
    "BodyDef": "scene.body_definition",
    "Scene": "scene.scene",
    "CameraDef": "scene.scene",
    "UniformGravity": "forces.force_definitions",
    "CentralGravity": "forces.force_definitions",
    "Medium": "forces.force_definitions",
    "MutualGravity": "forces.force_definitions",
    "Drag": "forces.force_definitions",
    "Spring": "forces.force_definitions",
    "ConstantForce": "forces.force_definitions",
    "TabulatedForce": "forces.force_definitions",
    "FunctionForce": "forces.force_definitions",
    "Point": "joints.joint_definitions",
    "Hinge": "joints.joint_definitions",
    "Slider": "joints.joint_definitions",
    "Fixed": "joints.joint_definitions",
    "Distance": "joints.joint_definitions",
    "Universal": "joints.joint_definitions",
    "General": "joints.joint_definitions",
    "Drive": "joints.joint_definitions",
    "Wheel": "joints.joint_definitions",
    "Gear": "joints.joint_definitions",
    "Screw": "joints.joint_definitions",
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
__all__ = list(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise import_module("tumble.collision.spelling").not_in(__name__, name, __all__)
    return getattr(import_module(f"tumble.sim.{_HOME[name]}"), name)


def __dir__():
    return sorted(__all__)
