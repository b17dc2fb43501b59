"""Tables of large grounds are kept on disk: whole or not at all, and made anew where they are damaged."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tumble.collision import TriangleMesh
from tumble.collision.ground import cache


@pytest.fixture
def kept(monkeypatch, tmp_path):
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "FEWEST_TRIANGLES", 100)
    return tmp_path / "grounds"


def hills(n: int = 20, height: float = 1.0) -> TriangleMesh:
    x, y = np.meshgrid(np.arange(n) * 0.5, np.arange(n) * 0.5, indexing="ij")
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    vertices = np.stack([x, y, height * np.sin(x) * np.cos(y)], axis=2).reshape(-1, 3)
    return TriangleMesh(vertices, np.concatenate([np.stack([a, a + n, a + n + 1], 1), np.stack([a, a + n + 1, a + 1], 1)]))


def made(mesh: TriangleMesh, monkeypatch) -> bool:
    """Whether the tables of a mesh are made, not read; they are what they are."""
    calls = []
    plain = TriangleMesh._worked_out
    with monkeypatch.context() as patched:
        patched.setattr(TriangleMesh, "_worked_out", lambda self: calls.append(self) or plain(self))
        tables = mesh.tables()
    right = mesh._worked_out()
    assert list(tables) == list(right)
    for name, table in tables.items():
        assert table.dtype == right[name].dtype
        assert np.array_equal(table, right[name])
    return len(calls) == 1


def test_tables_are_made_once(kept, monkeypatch):
    assert made(hills(), monkeypatch)
    assert len(list(kept.iterdir())) == 1
    assert not made(hills(), monkeypatch)
    assert made(hills(height=1.0 + 1e-15), monkeypatch)  # another mesh
    assert made(hills(7), monkeypatch)  # too small to be kept
    assert len(list(kept.iterdir())) == 2


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "folder"])
def test_damaged_files_are_made_anew(kept, monkeypatch, harm):
    assert made(hills(), monkeypatch)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    if harm == "folder":
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(
            {"cut": whole[:-100], "flipped": whole[:500] + bytes([whole[500] ^ 4]) + whole[501:], "empty": b""}[harm]
        )
    assert made(hills(), monkeypatch)
    assert made(hills(), monkeypatch) == (harm == "folder")  # written once more, but over a folder
    if harm != "folder":
        assert file.read_bytes() == whole
    assert not list(kept.glob("*.part"))


def test_the_oldest_go_first(kept, monkeypatch):
    monkeypatch.setattr(cache, "MOST_KEPT_BYTES", 150_000)
    sizes = []
    for k in range(6):
        made(hills(20 + k), monkeypatch)
        time.sleep(0.02)
        sizes.append(sum(file.stat().st_size for file in kept.iterdir()))
    assert max(sizes) <= 150_000
    assert not made(hills(25), monkeypatch)
    assert made(hills(20), monkeypatch)


def test_what_no_version_reads_any_more_is_deleted_when_asked(kept, monkeypatch):
    assert cache.prune() == 0
    made(hills(), monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(cache, "source_hash", lambda path: "0" * 16)
        assert made(hills(), monkeypatch)
    (kept / "tmp1.part").write_bytes(b"half")
    assert len(list(kept.iterdir())) == 3
    assert cache.prune() == 2
    assert len(list(kept.iterdir())) == 1
    assert not made(hills(), monkeypatch)


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(cache, "FEWEST_TRIANGLES", 100)
    assert made(hills(), monkeypatch)
    assert made(hills(), monkeypatch)
