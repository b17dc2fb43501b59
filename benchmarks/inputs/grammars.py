"""Grammars of what users and others may hand to tumble: mostly right, so that it gets far, and wrong in a few places.

Each draw is a file that is right by its grammar, and then harmed in several ways, each a case of its own.
"""

from __future__ import annotations

from benchmarks.inputs.command_lines import command_lines
from benchmarks.inputs.model_files import mjcf_files, urdf_files
from benchmarks.inputs.scene_files import scene_files, schemas
from benchmarks.inputs.stored_files import checkpoints, stores, sweeps

GRAMMARS = {
    "scene files": scene_files,
    "MJCF": mjcf_files,
    "URDF": urdf_files,
    "recordings": stores(),
    "saved worlds": checkpoints(),
    "sweeps": sweeps,
    "schema": schemas,
    "command lines": command_lines(),
}
