"""What the simulator raises. Input is checked once, at the door, by name and value."""

from __future__ import annotations

from tumble.collision.errors import InputError

__all__ = ["InputError", "RecordingError", "SimulationError"]


class SimulationError(RuntimeError):
    """The run can not go on: the state stopped being finite, or a limit of the solver was hit.

    Fields: ``reason``; ``step`` that could not be taken and the ``time`` [s] before it, or None; ``names`` of the bodies, joints
    or forces that it is about.
    """

    def __init__(self, reason: str, step: int | None = None, time: float | None = None, names: tuple[str, ...] = ()):
        super().__init__(reason if step is None else f"step {step} (t = {time:.9g} s): {reason}")
        self.reason: str = reason
        self.step: int | None = step
        self.time: float | None = time
        self.names: tuple[str, ...] = tuple(names)


class RecordingError(RuntimeError):
    """A recording can not be written or read. Fields: ``path`` (where) and ``reason``."""

    def __init__(self, path: object, reason: str):
        super().__init__(f"{path}: {reason}")
        self.path: object = path
        self.reason: str = reason

    def __reduce__(self) -> tuple[type, tuple[object, str]]:  # so that it gets from process to process
        return type(self), (self.path, self.reason)
