"""What drawing raises and warns of."""

from __future__ import annotations


class RenderError(RuntimeError):
    """A picture can not be made: no OpenGL where it was asked for, no encoder, no room on the disk.

    Fields: ``reason``, and ``path`` of what can not be written, or None.
    """

    def __init__(self, reason: str, path: object = None):
        super().__init__(reason if path is None else f"{path}: {reason}")
        self.reason, self.path = reason, path


class RendererWarning(UserWarning):
    """Pictures are made in a lesser way than they could be."""
