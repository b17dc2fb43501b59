"""What the simulator raises. Input is checked once, at the door, by name and value."""

from __future__ import annotations

from collision.errors import InputError

__all__ = ["InputError", "RecordingError", "SimulationError"]


class SimulationError(RuntimeError):
    """The run can not go on: the state stopped being finite, or a limit of the solver was hit."""


class RecordingError(RuntimeError):
    """A recording can not be written or read. Fields: ``path`` (where) and ``reason``."""

    def __init__(self, path: object, reason: str):
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
