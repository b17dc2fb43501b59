"""The numbers that decide into how many parts a drift is divided: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, as spoiled.py beside it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.physics.falling_flat import gained_by_a_coin_that_falls_flat
from tumble.sim.contact import contact_blocks as blocks
from tumble.sim.contact import contact_solve as solve
from tumble.sim.contact import divided_drift as division
from tumble.sim.contact import half_kick
from tumble.sim.ledger.work import INSIDE_DRIFT, KICK, MEAN_GIVEN
from tumble.sim.solvers.block_laws import COULOMB_LAW
from tumble.sim.state import DYNAMIC, SLIDING_FRICTION

H = 1 / 240
PAIR = SimpleNamespace(radius=np.array((0.1, math.inf)))  # bodies: a small one and the ground


def parts_tried(monkeypatch, missed: float = 1.0, phase: tuple[float, ...] = (), crowd: float = 1000.0) -> list[int]:
    """Into how many parts a kick divides a drift, one length after the other: where no look finds its end, or, with nothing
    ``missed``, where contacts leave so much to come and go in 1, 2, 4 ... parts. ``crowd``: parts that may be spent."""
    tried: list[int] = []

    def solved(*given) -> tuple:
        follows, parts = given[10:12]
        tried.append(parts)
        return 0.0, 0.0, 1, missed, follows, False, None

    def divided(*given) -> tuple:
        parts = given[10]
        if not phase:
            return 2 * parts, 2 * parts, math.nan
        left = phase[parts.bit_length() - 1]
        more = 2 * parts if left > 1.0 and parts < 2 ** (len(phase) - 1) else parts
        return more, more, left

    island = SimpleNamespace(members=[0], owner=[], links=[], turning=[])
    stubs = {
        "list_moments": None,
        "_in_crowd": False,
        "_take_to_places": None,
        "_no_looks": SimpleNamespace(best_p=None),
        "parts_before": 1,
        "_note": None,
        "turns": False,
        "note_arrivals": None,
    }
    stubs |= {"prepare": (island, None, None, None, None, None), "_give": None, "number_kick": None, "copy_table": None}
    for name, found in stubs.items():
        monkeypatch.setattr(solve, name, lambda *given, found=found: found)
    monkeypatch.setattr(solve, "part_length", lambda left, parts, dt: parts)
    monkeypatch.setattr(solve, "divide", divided)
    monkeypatch.setattr(solve, "_solve", solved)
    settings = SimpleNamespace(dt=H, solver=0, crowd=crowd, look_ahead=True, tolerance=1e-11)
    solve._kick_island((None,) * 7, None, settings, None, 0.0, MEAN_GIVEN, [0], [], np.zeros(1, np.int64))
    return tried


def test_a_drift_whose_end_no_look_finds_is_not_divided_for_ever(monkeypatch):
    """After eight parts the accelerations of the instant have to do; it stays divided."""
    assert parts_tried(monkeypatch) == [1, 2, 4, 8, 8]
    monkeypatch.setattr(solve, "LOST_PARTS", 1000)
    assert parts_tried(monkeypatch) == [1, 2, 4, 8, 16, 32, 64, 64]


def test_an_impulse_that_no_division_lessens_is_that_of_an_impact(monkeypatch):
    """So short a flight as only a body by itself may have is kept where less comes and goes in it than in the longest, or next to
    nothing."""
    struck = (1.8, 1.0 + 1e-9, 1.2, 4.0, 36.0)
    assert parts_tried(monkeypatch, 0.0, struck, crowd=1.0) == [1, 2, 4, 8, 16, 1]
    assert parts_tried(monkeypatch, 0.0, struck) == [1, 2, 4, 8, 16]
    lessened = (8.0, 16.0, 20.0, 7.0)  # in the end, below what it was in one part: a force within the step
    assert parts_tried(monkeypatch, 0.0, lessened, crowd=1.0) == [1, 2, 4, 8]
    assert parts_tried(monkeypatch, 0.0, (8.0, 16.0, 0.5, 36.0), crowd=1.0) == [1, 2, 4]


def one_contact(gap: float = 0.0, accel: tuple = (0, 0, 0)) -> SimpleNamespace:
    return SimpleNamespace(body=np.array(((0, 1),)), u=np.zeros((1, 3)), gap=np.array((gap,)), accel=np.array((accel,), float))


def swing(along: float, arrives: float) -> float:
    """Energy that comes and goes with a contact that leaves with 1 m/s along each of its axes, under 6 N s; along the surface it
    is ``along``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "velocity_along", lambda *arguments: 1.0)
        p = np.array(((along, along, 6.0),))
        case = one_contact(), np.array([0]), None, SimpleNamespace(u0=np.zeros((1, 3))), p, None, H
        return blocks.contact_swing(PAIR, *case, MEAN_GIVEN, np.array([arrives]))[0]


def test_a_contact_that_is_gone_at_the_end_of_the_flight_gives_for_nothing():
    """Whatever it leaves with; one that is there and comes as it left is steady."""
    assert swing(0.0, math.nan) == 1.0
    assert swing(0.0, -1.0) == 0.0


def test_what_is_driven_along_the_surface_comes_and_goes_there_too():
    """As what sticks is; friction only takes, whatever law a solve has found for it."""
    assert swing(6.0, 1.0) == pytest.approx(3.0, abs=1e-15)
    assert swing(6.0, -1.0) == 0.0
    assert swing(-6.0, 1.0) == 1.0


def swing_of_slip(pull: float, friction: float) -> float:
    """Energy that comes and goes with a steady contact that leaves with 2 m/s along two of its axes, with friction 0.5, under 6
    N s and ``friction`` against its slip; a force takes ``pull`` times 1 m/s from it in the flight."""
    laws = SimpleNamespace(u0=np.zeros((1, 3)), mu=np.full(1, 0.5))
    p = np.array(((-friction, 0, 6.0),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "velocity_along", lambda system, u0, v, k, r: float(r != 1))
        given = one_contact(accel=(-pull / H, 0, 0)), np.array([0]), None, laws, p, None, H, KICK, np.array([-2.0])
        return blocks.contact_swing(PAIR, *given)[0]


def test_friction_whose_slip_ends_in_the_flight_drives_it_back(monkeypatch):
    """It acts to the end of the flight: a coin that came to roll gained a thousandth of its energy."""
    assert swing_of_slip(2.9, 3.0) == 0.0
    assert swing_of_slip(4.0, 3.0) == pytest.approx(3.0 * 1.0 * 0.5)  # 1 m/s, there and back in halves
    assert swing_of_slip(3.1, 3.0) == pytest.approx(3.0 * 0.1 * 0.1 / 1.1)
    assert swing_of_slip(4.0, 2.9) == swing_of_slip(4.0, 0.0) == 0.0  # it sticks
    monkeypatch.setattr(blocks, "_driven_back", lambda *given: 0.0)
    assert swing_of_slip(4.0, 3.0) == 0.0


def test_what_is_stopped_by_more_than_it_needs_keeps_what_it_is_given(monkeypatch):
    """A contact that may close no faster than it turns back: half of 12 N s at 1 m/s too much."""

    def swing_of_dip(accel: float, gap: float = 0.0) -> float:
        leaves = SimpleNamespace(u0=np.zeros((1, 3)))
        given = one_contact(gap, (0, 0, accel)), np.array([0]), None, leaves, np.array(((0.0, 0, 6.0),)), None, H, MEAN_GIVEN
        return blocks.contact_swing(PAIR, *given, np.array([1.0]))[0]

    with monkeypatch.context() as patch:
        patch.setattr(blocks, "velocity_along", lambda *arguments: -1.0)
        assert swing_of_dip(1.9 / H) == 0.0
        assert swing_of_dip(4.0 / H) == pytest.approx(6.0)
        assert swing_of_dip(1.0 / H, gap=1.5 * H) == pytest.approx(6.0)
        assert swing_of_dip(-4.0 / H, gap=2.0 * H) == 0.0  # it is sent off so that it is back in time


def parts_of_what_turns(radians: float, links: int = 1, passes: float = 0.0) -> int:
    """Into how many parts a step is divided at first in which a body with a contact turns so far, and another one, 0.2 m away, to
    which it is jointed, passes it by so many metres."""
    w = np.array(((0.0, 0.0, radians / H), (0, 0, 0)))
    x, v = np.array(((0.0, 0, 0), (0.2, 0, 0))), np.array(((0.0, 0, 0), (0, passes / H, 0)))
    bodies = SimpleNamespace(parts=np.ones(2, np.int64), w=w, x=x, v=v, radius=np.full(2, 0.1), kind=np.full(2, DYNAMIC))
    island = SimpleNamespace(members=[0, 1], links=[0] * links, rows=[0])
    return division.parts_before(bodies, SimpleNamespace(body=np.array(((0, 1),))), island, MEAN_GIVEN, 64, H)


def test_what_turns_on_a_joint_beside_a_contact_turns_by_half_a_radian_in_a_part(monkeypatch):
    """Undivided, random world 98 is half as deep again as its smallest body is large, and gains 0.7 % of its energy."""
    assert [parts_of_what_turns(radians) for radians in (0.4, 0.6, 1.9, 1e3)] == [1, 2, 4, 64]
    assert parts_of_what_turns(1.9, links=0) == 1
    monkeypatch.setattr(division, "STEADY_TURN", math.inf)
    assert parts_of_what_turns(1.9) == 1


def test_so_does_the_line_between_jointed_bodies(monkeypatch):
    """A hull of a third of a gram that ran along its slider at 570 m/s turned that line by 16 rad in a step. A kick
    beside it left the bodies with three times their energy."""
    assert [parts_of_what_turns(0.0, passes=metres) for metres in (0.09, 0.11, 3.2)] == [1, 2, 32]
    monkeypatch.setattr(division, "_line_rate", lambda bodies, i, j: 0.0)
    assert parts_of_what_turns(0.0, passes=3.2) == 1


def owed(kept: float, moments: int = 0, apart: bool = False, missed: float = 0.0, second: float = 0.05) -> float:
    """What a contact that landed and bore 1 N s owes of it, where 0.25 N s stay besides, and of another one, that bore
    ``second``, ``kept``; so many of them resist rolling. ``apart``: that one is of another body. ``missed`` by the kick [m/s]."""
    contacts = SimpleNamespace(
        owed=np.zeros((2, 3)), u=np.array(((0.0, 0, -1.0), (0, 0, 0))), slides=np.full(2, SLIDING_FRICTION)
    )
    island, m = SimpleNamespace(rows=np.arange(2), turning=np.arange(moments)), 2 + moments
    lo, hi, c = np.zeros((3, m, 3))
    laws = SimpleNamespace(law=np.full(m, COULOMB_LAW), mu=None, lo=lo, hi=hi, load=None, c=c, u0=None)
    system = SimpleNamespace(mass=np.ones(2), a=np.array((0, int(apart), *(0,) * moments)), b=np.full(m, -1))
    kick = SimpleNamespace(mode=KICK, cheap=False, driven=False)

    def stays(system, laws, vstar, room, tolerance, enough, surprise, iterations, p, v) -> tuple:
        for k, load in enumerate((0.25, kept)):
            p[k, 2] = load if laws.law[k] == COULOMB_LAW else laws.hi[k, 2]
        return 0.0, 0.0, 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(half_kick, "newton", stays)
        patch.setattr(half_kick, "relative_velocity", lambda system, u0, v, u: u.fill(0.2))
        p, v = np.array(((0.0, 0, 1.0), (0, 0, second), *((0.0, 0, 0),) * moments)), np.zeros((1, 6))
        settings = SimpleNamespace(tolerance=1e-11, iterations=9)
        half_kick.owe(contacts, island, system, laws, H, H, kick, None, settings, v, p, v, missed)
    return contacts.owed[0, 2]


def test_what_stays_of_a_kick_is_a_part_of_it():
    """Contacts that wedge can press each other with any load: 25 N s stayed of 0.05, and what was owed gave 170 J."""
    assert owed(0.5) == 1.5
    assert owed(25.0) == 0.0
    assert owed(25.0, apart=True) == 1.5  # these are wedged elsewhere
    assert owed(25.0, second=0.0) == 1.5  # what bears nothing stays so: it could press only against others


def test_impulses_that_solve_nothing_are_of_no_steady_force():
    """It leaves at 1.4 m/s, of which a hundredth may be missed."""
    assert owed(0.5, missed=0.013) == 1.5
    assert owed(0.5, missed=0.015) == 0.0


def test_what_lands_and_resists_rolling_owes_as_if_it_did_not():
    """A blow of 25 N s, of 6 whose flight is short, owed 2.3 where forces give 0.01; the next impact took them back."""
    assert owed(0.5, moments=1) == owed(0.5)


def test_a_steady_contact_does_not_count_as_one_that_gives_and_takes():
    """It comes back as fast as it leaves but for a millionth, and counts by what that makes in 500 kicks."""
    leaves = SimpleNamespace(u0=np.zeros((1, 3)))
    found = {}
    for arrives in (-1.0 + 1e-6, 1.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "velocity_along", lambda *arguments: 1.0)
            p = np.array(((0.0, 0, 6.0),))
            case = one_contact(), np.array([0]), None, leaves, p, None, H, MEAN_GIVEN, np.array([arrives])
            found[arrives] = [*blocks.contact_swing(PAIR, *case)]
            patch.setattr(blocks, "STEADY_KICKS", math.inf)
            found[arrives] += blocks.contact_swing(PAIR, *case)
    assert found[1.0] == [1.0, 1.0, 1.0, 1.0]
    assert found[-1.0 + 1e-6] == [pytest.approx(500e-6), pytest.approx(500e-6), 1.0, 1.0]


def test_a_body_by_itself_is_divided_as_far_as_its_contacts_ask(monkeypatch):
    """The promise itself: test_round.py."""
    monkeypatch.setattr(division, "MOST_PARTS_ALONE", 32)
    assert gained_by_a_coin_that_falls_flat() > 1e-2


def test_what_comes_to_the_step_open_has_no_phase():
    contacts = one_contact(gap=2e-9)
    case = (
        contacts,
        np.array([0]),
        None,
        SimpleNamespace(u0=np.zeros((1, 3)), mu=np.zeros(1)),
        np.array(((0.0, 0, 6.0),)),
        None,
        H,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "velocity_along", lambda *arguments: 1.0)
        assert blocks.contact_swing(PAIR, *case, MEAN_GIVEN, np.array([1.0])) == (1.0, 0.0)
        large = SimpleNamespace(radius=10.0 * PAIR.radius)
        assert blocks.contact_swing(large, *case, MEAN_GIVEN, np.array([1.0])) == (1.0, 1.0)
        assert blocks.contact_swing(PAIR, *case, INSIDE_DRIFT, np.array([1.0]))[1] > 0.0  # it came to bear in this drift
        patch.setattr(blocks, "NOT_OPEN", 1.0)
        assert blocks.contact_swing(PAIR, *case, MEAN_GIVEN, np.array([1.0])) == (1.0, 1.0)


P = 2.0  # N s


def booked(
    contacts: SimpleNamespace,
    before: float,
    after: float,
    comes: float,
    impulse: float = P,
    lent: bool = True,
    landed: float = 0.0,
) -> float:
    """What is lost by landing in a kick that turns a contact so [J]; ``comes``: how fast it is to come to the next one;
    ``landed``: what others lost so."""
    losses, contacts.u = [], np.array(((0.0, 0.0, before),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "point_velocity", lambda bodies, i, point: (0.0, 0.0, after * i))
        patch.setattr(blocks, "surface_slip", lambda *given: (0.0, 0.0, 0.0))
        patch.setattr(blocks, "contact_driven_work", lambda *given: 0.0)
        patch.setattr(blocks, "book_works", lambda books, bodies, i, j, one, two, mode: losses.append(one[1] + two[1]))
        blocks.book_contact(PAIR, contacts, None, 0, (0.0, 0.0, 0.5 * impulse), KICK, 0.5, comes, landed, lent)
    return losses[0]


def a_row(gap: float = 0.0, arrives: float = math.nan) -> SimpleNamespace:
    """A contact without friction that was to come as fast as it ``arrives``."""
    return SimpleNamespace(
        frame=np.eye(3)[None], point=np.zeros((1, 3)), body=np.array(((0, 1),)), u_after=np.zeros((1, 3)), gap=np.array((gap,)),
        arrives=np.array((arrives,)), phase=np.array((arrives,)), creeps=np.full((1, 3), math.nan),
        mu=np.zeros(1), loss=np.zeros(1), slides=np.full(1, SLIDING_FRICTION), owed=np.zeros((1, 3)), lent=np.zeros(1),
    )  # fmt: skip


def test_what_comes_as_its_kick_sent_it_loses_nothing():
    row = a_row(arrives=-0.02)
    assert booked(row, -0.02, 0.025, -0.03) == 0.0
    assert booked(row, -0.03, 0.03, -0.03) == 0.0
    assert booked(row, -0.2, 0.03, -0.03) == pytest.approx(0.5 * P * 0.17)


def test_what_lands_loses_all_of_its_fall_and_nothing_of_what_it_is_given_for_the_coming_flight():
    """2 kg that come at 0.2 m/s and leave at 0.03 by 0.06 N s that they owe: the kick takes m (v^2 - w^2)/2 of them."""
    row = a_row()
    row.owed[0, 2] = 2.0 * 0.03
    assert booked(row, -0.2, 0.03, -0.03, impulse=2.0 * 0.23) == pytest.approx(0.5 * 2.0 * 0.2**2)


def test_what_lands_where_no_impact_takes_anything_back_loses_that_too():
    """In a large island it was lent again and again: a row of dominoes had an eighth of its energy in `contact`."""
    row = a_row()
    row.owed[0, 2] = 2.0 * 0.03
    lost = booked(row, -0.2, 0.03, -0.03, impulse=2.0 * 0.23, lent=False)
    assert lost == pytest.approx(0.5 * 2.0 * (0.2**2 - 0.03**2))


def lost_by_what_came_open() -> float:
    """It comes at 3.5 mm/s by what the kick gave it, and at 66 by itself."""
    row = a_row(gap=1e-4)
    booked(row, -0.01, 0.0035, -0.07)
    return booked(row, -0.07, 0.0035, -0.0035)


def lost_by_what_bounced() -> float:
    """It leaves by itself at 0.22 m/s, and is sent with 1 mm/s more, so that it comes to the next kick."""
    row = a_row()
    booked(row, 0.22, 0.221, -0.221)
    return booked(row, -0.221, 0.01, -0.01)


def test_what_a_contact_has_by_itself_lands(monkeypatch):
    """As the phase of a kick that never gave it, 3e-4 of an ellipsoid's energy were lost as `contact`."""
    assert lost_by_what_came_open() == pytest.approx(0.5 * P * 0.0665)
    assert lost_by_what_bounced() == pytest.approx(0.5 * P * 0.211)
    monkeypatch.setattr(blocks, "_phase", lambda bodies, contacts, row, before, after: contacts.arrives[row])
    assert lost_by_what_came_open() == lost_by_what_bounced() == 0.0


def test_what_leaves_as_fast_as_it_came_has_not_landed(monkeypatch):
    """Though it came faster than foreseen. Booked twice, as `restitution` lost and as `contact` won, it was 5e-5 of a cone's
    energy."""
    assert booked(a_row(arrives=-0.018), -0.026, 0.026, -0.026) == 0.0
    assert booked(a_row(arrives=-0.018), -0.026, 0.025, -0.025) == pytest.approx(0.5 * P * 0.001)
    monkeypatch.setattr(blocks, "min", lambda a, b: a, raising=False)
    assert booked(a_row(arrives=-0.018), -0.026, 0.026, -0.026) == pytest.approx(0.5 * P * 0.008)


def test_what_others_press_loses_what_they_gave_it(monkeypatch):
    """A wedge that leaves the floor is struck down on it: what its contact gains there the blow lost. As `contact` it was 0.5 %
    of the energy, in one kick."""
    leaves = lambda **given: booked(a_row(arrives=-0.02), 0.14, 0.0, -0.0, **given)  # noqa: E731
    assert leaves() == leaves(landed=0.01) == pytest.approx(-0.5 * P * 0.14)
    monkeypatch.setattr(blocks, "_lost", lambda *given: 0.0)
    assert leaves() == 0.0


def test_what_rests_beside_a_landing_keeps_its_own_phase_alone():
    """It owes 0.02 N s of 2, and leaves with 0.01 m/s. What others lose as they land is as much as it can have of them."""
    row = a_row(arrives=-0.01)
    row.owed[0, 2] = 0.02
    assert booked(row, 0.0, 0.01, -0.01, landed=1.0) == pytest.approx(-0.5 * (P - 0.02) * 0.01)
    row = a_row(arrives=-0.01)
    row.owed[0, 2] = 0.02
    assert booked(row, 0.0, 0.01, -0.01, landed=1e-3) == -1e-3
    assert booked(a_row(arrives=-0.01), -0.01, 0.01, -0.01, landed=1.0) == 0.0
    assert booked(a_row(), 0.3, 0.5, -0.5, impulse=0.0, landed=-2.0) == 0.0  # nothing landed: others were turned away


def test_what_lands_and_loses_is_booked_before_what_it_sends_off(monkeypatch):
    """Booked in their order, a cone whose point was thrown up as its rim came down had 1.6e-4 of its energy in `contact`."""
    after, order = (2.0, -0.5, 0.3, 0.2), []
    monkeypatch.setattr(blocks, "contact_velocity", lambda bodies, contacts, row: (0.0, 0.0, after[row]))
    monkeypatch.setattr(blocks, "book_contact", lambda bodies, contacts, books, row, *given: order.append(row) or 0.0)
    contacts = SimpleNamespace(u=np.array(((0, 0, 0.1), (0, 0, -1.0), (0, 0, -1.0), (0, 0, -0.1))), phase=np.full(4, math.nan))
    contacts.arrives = contacts.phase
    blocks.book_contacts(PAIR, contacts, None, np.arange(4), np.zeros((4, 3)), KICK, 0.5, np.zeros(4))
    assert order == [1, 2, 3, 0]


@pytest.mark.parametrize(("lands", "loss"), [(1.0, -0.006), (1e-3, -1e-3), (0.0, 0.0)])
def test_what_another_one_lands_beside_lends_another_part(lands, loss):
    """One end of a rod rests, and the other comes down: the first comes and goes at 20 mm/s as before, but bears less. It lent 9
    mJ and lends 3: as `contact` the rest was 1e-5 of all energy, which never came back. It can have no more than landed."""
    row = a_row(arrives=-0.02)
    row.owed[0, 2], row.lent[0] = 0.3, 0.009
    assert booked(row, -0.02, 0.02, -0.02, impulse=0.0, landed=lands) == pytest.approx(loss)
    assert row.lent[0] == pytest.approx(0.003)
    row.arrives[0] = math.nan  # it bore nothing since then
    assert booked(row, -0.02, 0.02, -0.02, impulse=0.0, landed=1.0) == pytest.approx(0.003)


@pytest.mark.parametrize(("lands", "loss"), [(1.0, 0.0097), (1e-3, 1e-3)])
def test_what_is_pressed_on_by_a_landing_loses_what_it_came_with(lands, loss):
    """A hull on a conveyor is struck: it comes as it was sent, is stopped by far more than was lent, and leaves with next to
    nothing."""
    row = a_row(arrives=-0.01)
    row.lent[0] = 0.3e-3
    assert booked(row, -0.01, 0.0, -0.0, landed=lands) == pytest.approx(loss)


def test_what_a_large_island_takes_of_its_phase_is_no_loss_of_a_landing_in_it():
    """Its flights become half as long, and then as long as before: what is taken from its phase is given again. As a loss beside
    landings of nanojoules, a row of dominoes got 0.5 % of its energy in `contact`."""
    assert booked(a_row(arrives=-0.02), -0.02, 0.01, -0.01, landed=1.0, lent=False) == 0.0
    assert booked(a_row(arrives=-0.01), -0.01, 0.02, -0.02, landed=1.0) < 0.0
    assert booked(a_row(arrives=-0.02), -0.02, 0.01, -0.01, landed=1.0) > 0.0


def test_what_leaves_by_itself_and_is_sent_faster_owes_what_it_was_given():
    """2 kg that leave at 3 mm/s and are sent at 20: the kick gave m (w^2 - v^2)/2, and that is phase, which the next one takes
    again. The rest of what it comes with is lost. As (w - v)^2 a quarter of it stayed in `contact`."""
    row, m, v, w = a_row(), 2.0, 0.003, 0.02
    row.owed[0, 2] = m * (w - v)
    assert booked(row, v, w, -w, impulse=m * (w - v)) == 0.0
    assert row.lent[0] == pytest.approx(0.5 * m * (w * w - v * v))
    row.owed[0, 2] = 0.0
    assert booked(row, -w, 0.0, 0.0, impulse=m * w) == pytest.approx(0.5 * m * v * v)
