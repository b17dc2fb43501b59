"""Sweeps in lanes do what sweeps one contact at a time do, to the last bit, and no lane waits for another without need."""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import kernel
from tumble.sim.solvers.lanes import (
    FRICTION,
    IMPULSE,
    LANES,
    OFFSET,
    OWN_MATRIX,
    SLIDES,
    STICK,
    WIDTH,
    Groups,
    group_contacts,
    largest_of,
    list_groups,
    start_groups,
    sweep_lanes,
)
from tumble.sim.solvers.problem import Laws, System
from tumble.sim.solvers.sweeps import COLUMNS, pack_rows, relax, start_sweeps

NONE = np.zeros((0, 3))
TURNS = 45  # columns of directions, arms and turns, the same in both tables


@kernel
def _one_by_one(system, laws, light, before, none, stick, fast, rows, p, v, awake, least, most):
    pack_rows(system, laws, rows)
    start_sweeps(light, system, laws, before, rows, p, v)
    return relax(light, system, laws, stick, fast, none, rows, p, v, 0, len(p), least, most, awake)


@kernel
def _grouped(groups, a, b):
    group_contacts(groups, a, b, 0, len(a))
    list_groups(groups)


@kernel
def _in_lanes(groups, light, before, v, c, stick, fast, least, most):
    start_groups(groups, light, before, v)
    worst, done, told = np.inf, 0, np.zeros((1, 9))
    while worst > least and done < most:
        groups.count[1] += 1
        sweep_lanes(groups, c, stick, fast, v, 0, groups.count[0], least, done == 0, done > 0, True, told, 0)
        worst, done = largest_of(told, 0), done + 1
    return (worst if worst > least else 0.0), done


def _room(contacts: int, bodies: int) -> Groups:
    whole = lambda *shape: np.zeros(shape, dtype=np.int64)  # noqa: E731
    return Groups(
        np.zeros((contacts + 1, WIDTH)), whole(contacts, 2 * LANES), whole(contacts, LANES), whole(contacts), whole(bodies + 1),
        whole(contacts + 1), whole(contacts), whole(3), whole(bodies + 1),
        whole(contacts), whole(bodies + 1), whole(2 * contacts),
    )  # fmt: skip


def _heap(bodies: int, contacts: int, seed: int) -> dict:
    """Contacts of neighbours in a row of bodies, one in ten with the ground, as a crowd has them: sorted by the first body."""
    rng = np.random.default_rng(seed)
    ends = []
    while len(ends) < contacts:
        i = int(rng.integers(bodies))
        j = -1 if rng.random() < 0.1 else min(bodies - 1, i + 1 + int(rng.integers(8)))
        ends += [(i, j)] * int(rng.integers(1, 5)) if i != j else []
    a, b = np.array(sorted(ends)[:contacts]).T
    ja, jb = np.zeros((contacts, 3, 6)), np.zeros((contacts, 3, 6))
    for k in range(contacts):
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        for side, bodies_of, sign in ((ja, a, -1), (jb, b, 1)):
            if bodies_of[k] >= 0:
                side[k] = sign * np.hstack([frame, np.cross(rng.normal(size=3) * 0.1, frame)])
    weights = rng.normal(size=(bodies, 3, 3))
    return {
        "inverse": np.einsum("nij,nkj->nik", weights, weights) + np.eye(3),
        "light": np.append(rng.uniform(0.5, 2.0, bodies), 0.0),
        "before": np.vstack([rng.normal(size=(bodies, 6)), np.zeros(6)]), "a": a, "b": b, "ja": ja, "jb": jb,
        "mu": rng.uniform(0.0, 1.0, contacts), "c": 0.1 * rng.normal(size=(contacts, 3)),
        "u0": 0.1 * rng.normal(size=(contacts, 3)),
        "stick": 0.1 * rng.normal(size=(contacts, 2)), "fast": rng.random(contacts) < 0.5, "p": np.zeros((contacts, 3)),
    }  # fmt: skip


def _stated(problem: dict) -> tuple:
    """The same as sweeps of one contact at a time take it: (system, laws, inverse masses, velocities before)."""
    light, inverse, ends = problem["light"][:-1].copy(), problem["inverse"], (problem[n] for n in ("a", "b", "ja", "jb"))
    system = System(1.0 / light, light, inverse, inverse, *ends)
    laws = Laws(
        np.zeros(len(problem["a"]), dtype=np.int64),
        problem["mu"],
        NONE,
        NONE,
        np.full(len(problem["a"]), -1),
        problem["c"],
        problem["u0"],
    )
    return system, laws, problem["light"], problem["before"]


def _grouping(problem: dict) -> Groups:
    groups = _room(len(problem["a"]), len(problem["light"]) - 1)
    _grouped(groups, problem["a"], problem["b"])
    return groups


def test_of_two_contacts_that_share_a_body_the_earlier_one_comes_first():
    problem = _heap(40, 200, 1)
    groups = _grouping(problem)
    place = groups.place // LANES
    assert np.array_equal(groups.who.ravel()[groups.place], np.arange(200))  # each has a lane of its own
    for body in range(40):
        of = np.flatnonzero((problem["a"] == body) | (problem["b"] == body))
        assert np.all(np.diff(place[of]) > 0)
    depth, longest = np.zeros(200), np.zeros(41)  # of the longest chain of contacts that must wait for each other
    for k, (i, j) in enumerate(zip(problem["a"], problem["b"], strict=True)):
        depth[k] = 1 + max(longest[i] if i >= 0 else 0, longest[j] if j >= 0 else 0)
        longest[[n for n in (i, j) if n >= 0]] = depth[k]
    assert groups.count[0] <= 200 / LANES + (1 - 1 / LANES) * depth.max()  # Graham, Bell Syst. Tech. J. 45 (1966) 1563


def test_lanes_give_the_bits_of_one_contact_at_a_time():
    for seed, (least, most) in enumerate([(1e-11, 1), (1e-11, 7), (1e-2, 200), (1e-6, 400)]):
        problem = _heap(40, 200, seed)
        one = {name: value.copy() for name, value in problem.items()}
        rows, v, awake = np.zeros((200, COLUMNS)), np.zeros((41, 6)), np.ones(41, dtype=bool)
        told = _one_by_one(*_stated(one), NONE, one["stick"], one["fast"], rows, one["p"], v, awake, least, most)

        packed, scratch = np.zeros((200, COLUMNS)), np.zeros((41, 6))
        start = {name: value.copy() for name, value in problem.items()}
        _one_by_one(*_stated(start), NONE, start["stick"], start["fast"], packed, start["p"], scratch, awake, 1.0, 0)
        groups = _grouping(problem)
        for n, (g, lane) in enumerate(zip(*divmod(groups.place, LANES), strict=True)):
            row = groups.table[g, lane::LANES]
            row[:TURNS] = packed[n, :TURNS]
            row[OWN_MATRIX : OWN_MATRIX + 6] = packed[n, [47, 50, 53, 45, 49, 57]]
            row[OFFSET : OFFSET + 3] = packed[n, 54:57]
            row[FRICTION], row[SLIDES], row[STICK : STICK + 2] = problem["mu"][n], problem["fast"][n], problem["stick"][n]
        w, many = np.zeros((41, 8)), {name: value.copy() for name, value in problem.items()}
        found = _in_lanes(groups, many["light"], many["before"], w, many["c"], many["stick"], many["fast"], least, most)
        assert found == told
        assert np.array_equal(w[:, :6], v)
        assert np.array_equal(many["c"], one["c"])
        assert np.array_equal(many["fast"], one["fast"])
        impulses = groups.table[: groups.count[0]].reshape(-1, WIDTH // LANES, LANES)[:, IMPULSE : IMPULSE + 3]
        assert np.array_equal(impulses.transpose(0, 2, 1).reshape(-1, 3)[groups.place], one["p"])
        assert not np.array_equal(one["fast"], problem["fast"])  # some turned out to stick
        assert np.any(np.hypot(*one["p"][:, :2].T) < 0.99 * problem["mu"] * one["p"][:, 2])
