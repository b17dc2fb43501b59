"""Which worlds on disk this version reads: those whose arrays it knows, and others are told of by their layout."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from tumble.collision import Sphere
from tumble.sim import RecordingError, World
from tumble.sim.world import checkpoint

# digest of the arrays' names of each layout, from the first on that was kept so
KNOWN = {17: "26357615ee812f28", 18: "09cd590d215b74e1", 19: "09cd590d215b74e1", 20: "ba8e88e854038ed7", 21: "886f775f40d2041d"}


def saved(path) -> str:
    """Save a world; the digest of what its arrays are called."""
    world = World()
    world.add(Sphere(0.1))
    world.step()
    world.save(path)
    with np.load(path) as file:
        return hashlib.sha256(" ".join(sorted(file.files)).encode()).hexdigest()[:16]


def test_other_arrays_have_another_layout(tmp_path):
    """Where a field is added under the old number, older files are called damaged. Who adds one raises CHECKPOINT_SCHEMA and
    writes its digest here."""
    assert saved(tmp_path / "world.npz") == KNOWN[checkpoint.CHECKPOINT_SCHEMA]


def test_a_world_of_another_layout_is_not_called_damaged(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "CHECKPOINT_SCHEMA", 16)
        saved(tmp_path / "world.npz")
    with pytest.raises(RecordingError, match="saved by another version of tumble: it has layout 16, this version reads 21"):
        World.load(tmp_path / "world.npz")
