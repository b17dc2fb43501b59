"""Contacts in recordings: on disk and in memory they are what the world told."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import Every, Recorder, RecordingError, Run, World


def world_of_three() -> World:
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(3):
        world.add(Box((0.1, 0.1, 0.1)), name=f"box {k}", position=(0.5 * k, 0, 0.1 + 0.05 * k))
    world.add(Sphere(0.1), name="ball", position=(0, 0, 0.3))
    return world


@pytest.mark.parametrize("where", ["disk", "memory"])
def test_recorded_contacts_are_those_of_the_world(where, tmp_path):
    path = tmp_path / "r.zarr" if where == "disk" else None
    world, seen = world_of_three(), []
    recorder = Recorder(path, every=4, contacts=True)
    run = world.run(0.4, [recorder, Every(4, lambda w: seen.append(w.contacts()))])
    assert len({len(rows) for rows in seen}) > 1  # ragged
    for k, rows in enumerate(seen):
        assert np.array_equal(run.contacts(k), rows)
    assert np.array_equal(run.contacts(-1), seen[-1])
    with pytest.raises(IndexError):
        run.contacts(len(run))
    data = run.dataset
    assert data.sizes["contact"] == sum(map(len, seen)) == int(data.contact_count.sum())
    assert data.contact_force.dims == ("contact", "xyz")
    assert data.contact_force.attrs["units"] == "N"
    assert np.array_equal(data.contact_impulse.sel(axis="normal"), np.concatenate(seen)["impulse"][:, 0])


def test_a_recording_killed_in_between_has_the_contacts_of_its_samples(tmp_path):
    world = world_of_three()
    recorder = Recorder(tmp_path / "r.zarr", contacts=True)
    seen = []

    def stop(w):
        seen.append(w.contacts())
        if w.step_count == 30:
            recorder.run()  # flushes
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.run(1.0, [recorder, Every(1, stop)])
    run = Run.open(tmp_path / "r.zarr")
    assert not run.complete
    assert len(run) == 31
    for k, rows in enumerate(seen):
        assert np.array_equal(run.contacts(k), rows)


def test_rows_are_those_of_the_start(tmp_path):
    world = world_of_three()
    recorder = Recorder(tmp_path / "r.zarr", contacts=True)
    world.run(0.1, [recorder])
    world.remove(world["box 1"])
    run = world.run(0.1, [recorder])
    last = run.contacts(-1)
    assert {run.names[i] for i in last["body_b"]} == {"box 0", "box 2", "ball"}


@pytest.mark.parametrize("where", ["disk", "memory"])
def test_of_chosen_bodies_those_that_they_take_part_in(where, tmp_path):
    """Each contact and impact of a chosen body, whatever with, by name; and none of those between others."""

    def record(bodies, name: str) -> Run:
        path = tmp_path / name if where == "disk" else None
        return world_of_three().run(0.4, [Recorder(path, every=4, contacts=True, impacts=True, bodies=bodies)])

    def told(run: Run, rows: np.ndarray, wanted: set[str]) -> list[tuple]:
        named = [(run.partners[r["body_a"]], run.partners[r["body_b"]], r["impulse"].tolist()) for r in rows]
        return [row for row in named if wanted & set(row[:2])]

    whole, some = record(None, "a.zarr"), record(["ball", "box [12]"], "b.zarr")
    assert whole.partners == whole.names
    assert some.names == ("ball", "box 1", "box 2")
    assert some.partners == (*some.names, "floor", "box 0")
    chosen = set(some.names)
    for k in range(len(whole)):
        assert told(some, some.contacts(k), chosen) == told(whole, whole.contacts(k), chosen)
        assert len(some.contacts(k)) == len(told(some, some.contacts(k), chosen))  # and no other
    assert ("floor", "box 0") in {row[:2] for row in told(whole, whole.contacts(0), {"box 0"})}
    assert ("box 0", "ball") in {row[:2] for row in told(some, some.contacts(-1), chosen)}
    assert told(some, some.impacts, chosen) == told(whole, whole.impacts, chosen) != []
    data = some.dataset
    assert data.partner[data.contact_body_b].values.tolist() == [
        some.partners[row["body_b"]] for k in range(len(some)) for row in some.contacts(k)
    ]


def test_what_was_not_kept_is_not_there():
    run = world_of_three().run(0.05)
    with pytest.raises(RecordingError, match="contacts=True"):
        run.contacts(0)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("where", ["disk", "memory"])
def test_recorded_impacts_are_the_events(where, nested, tmp_path):
    """Whatever the rate of the samples, each impact is there once, between the bodies of its event."""
    recorder = Recorder(tmp_path / "r.zarr" if where == "disk" else None, every=40, impacts=True)
    run = world_of_three().run(0.4, [Every(40, recorder) if nested else recorder])
    world = world_of_three()
    world.step(96)
    told = [e for e in world.events() if e.kind == "impact"]
    assert [e.b.name for e in told] == ["box 1", "box 2"]  # those that fall
    assert run.impacts["time"].tolist() == [e.time for e in told]
    assert np.array_equal(run.impacts["impulse"], [e.impulse for e in told])
    assert run.impacts["loss"].tolist() == [e.loss for e in told]
    assert [(run.names[i["body_a"]], run.names[i["body_b"]]) for i in run.impacts] == [(e.a.name, e.b.name) for e in told]
    assert run.dataset.impact_impulse.attrs["units"] == "N s"


def test_impacts_that_were_not_kept_are_not_there():
    with pytest.raises(RecordingError, match="impacts=True"):
        _ = world_of_three().run(0.05).impacts
    world = world_of_three()
    world.run(0.4, [Recorder(contacts=True)])
    assert any(e.kind == "impact" for e in world.events())  # a recorder that keeps none takes none
