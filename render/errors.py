"""What drawing raises and warns of."""

from __future__ import annotations


class RenderError(RuntimeError):
    """A picture can not be made: no OpenGL where it was asked for, no encoder, no room on the disk."""


class RendererWarning(UserWarning):
    """Pictures are made in a lesser way than they could be."""
