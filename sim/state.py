"""The state of a world: structure of arrays, grouped by who reads and who writes.

Every group is a NamedTuple of arrays, which compiled kernels take as one pointer (collision/kernels/group.py). Each field says of
what shape its array is and what it holds; `bodies_of` and the like make the arrays by that. Row i of the body arrays is body i of
the world, in the order of adding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import filled, group, real, truth, whole

STATIC, DYNAMIC, KINEMATIC, SLEEPING = range(4)  # sleeping: dynamic, but at rest until something touches it
POINT, HINGE, SLIDER, FIXED, DISTANCE, GENERAL, GEAR, SCREW = range(8)  # joints
NEWTON_SOLVER, SWEEPS_SOLVER = range(2)  # solvers of the kick
SOLVERS = ("newton", "sweeps")  # as NEWTON_SOLVER, SWEEPS_SOLVER
KIND_CODES = {"static": STATIC, "dynamic": DYNAMIC, "kinematic": KINEMATIC}

# What a compiled call reports back.
OK, PAIRS_FULL, CONTACTS_FULL, NOT_FINITE, BOOKS_FULL, TORN, WAKE, DROWSY, THROWN = range(9)

KNOT = 29  # numbers of a row of Bodies.knots: time, then 7 cubics (x, y, z, and the quaternion), highest power first
USERS = 11  # column of Forces.number: 1 in a row whose work is the user's
FLIGHT = 24  # numbers of a body in flight under forces, see Forces.path; the last one makes them six registers of four
RK4, SPLITTING, EXACT, DOP853 = range(4)  # integrators, in the order of tumble.sim.flight.methods.integrators.INTEGRATORS
# rows of Forces.path: states and their rates; then stages of the integrator
START, END, RATE0, RATE1, STAGE, MIDDLE, MIDRATE, SLOPE = range(8)
STATIONS = 15  # most states between the ends of a flight that are kept, see Forces.path
NUMBERS = 16  # parameters of a force
CENTRAL, MUTUAL, DRAG, SPRING, CONSTANT, TABLE, FUNCTION, MEDIUM = range(8)  # laws of force, see forces/laws.py
ROWS = 14  # numbers of a contact point, see tumble.collision.narrowphase.manifold
REACH_WIDTH, PIVOT_WIDTH = 48, 20  # numbers of a body and of a free coordinate in the recursion over links
POINTS = 8  # contact points of a pair of shapes
PIECE, IDLE, FACET_LEFT, CARRIER, PLANE = -1, -2, -3, -4, -16  # rows of Geoms.face that are no triangles; from PLANE down: planes

# Coefficients of a surface: columns of Bodies.material, of Bodies.exceptions and of Contacts.law.
# Friction while sliding and at rest; restitution along the normal and along the slip (-inf: none); arms of rolling and of
# torsional friction [m].
MU, MU_STATIC, E, BETA, ROLLING, TORSION = range(6)
COEFFICIENTS = 6

# What is known of a pair's next impact: it was looked for; it is to be looked for; it would come without an impulse, as points
# that overlap and do not approach, and waits until something else moves its bodies.
KNOWN, WANTED, FUTILE = range(3)

# Laws of the tangent in a kick (contact/contact_blocks.py): sticking or slow, up to the static friction; sliding, by the slip
# in the middle of the kick; sticking or slow, up to the kinetic friction.
STATIC_FRICTION, SLIDING_FRICTION, KINETIC_FRICTION = range(3)


@group
class Bodies(NamedTuple):
    """What a body is, and how it moves. World axes, about the centre of mass, unless said otherwise."""

    kind: np.ndarray = whole("n")
    serial: np.ndarray = whole("n")  # number in the order of adding, never given again
    mass: np.ndarray = real("n")  # [kg]; 0 for static and kinematic bodies
    inv_mass: np.ndarray = real("n")  # [1/kg]; 0 for static and kinematic bodies
    inertia: np.ndarray = real("n", 3, 3)  # body axes [kg m^2]
    inv_inertia: np.ndarray = real("n", 3, 3)  # body axes
    moments: np.ndarray = real("n", 3)  # principal moments of inertia, rising [kg m^2]
    axes: np.ndarray = real("n", 4)  # quaternion, principal axes to body axes
    spin: np.ndarray = real("n")  # 1 / smallest principal moment: |omega| <= spin |L|
    center: np.ndarray = real("n", 3)  # centre of mass in the body's own frame [m]
    radius: np.ndarray = real("n")  # of the sphere about the centre of mass that holds all of the body's shapes [m]
    # the surface: its coefficients, and how two surfaces act on each other (contact/surfaces.py)
    material: np.ndarray = real("n", COEFFICIENTS)
    surface: np.ndarray = whole("n")  # row of the exceptions; 0: none concerns it
    runs: np.ndarray = whole("n")  # 1: the surface moves against the body, as that of a conveyor
    surface_v: np.ndarray = real("n", 3)  # velocity of such a surface, body axes [m/s]
    surface_w: np.ndarray = real("n", 3)  # its angular velocity, body axes, about the origin of the body's own frame [rad/s]
    rules: np.ndarray = whole(COEFFICIENTS)  # how the coefficients of two surfaces combine
    exceptions: np.ndarray = real("s", "s", COEFFICIENTS, fill=np.nan)  # coefficients of pairs of surfaces; nan: by the rule
    # state: the momenta p and l are those after the kick, which the next drift starts from. What the world reports is the mean of
    # these and of those before the kick
    x: np.ndarray = real("n", 3)  # of the centre of mass [m]
    q: np.ndarray = real("n", 4)  # unit, body to world
    p: np.ndarray = real("n", 3)  # [kg m/s]; of driven bodies the velocity [m/s]
    l: np.ndarray = real("n", 3)  # [kg m^2/s]; of driven bodies the angular velocity [rad/s]
    low: np.ndarray = real("n", 6)  # what rounding cut off x and p in free flight, added to the next one
    p_before: np.ndarray = real("n", 3)  # before the kick
    l_before: np.ndarray = real("n", 3)
    # derived, valid for the current x, q, p, l
    rot: np.ndarray = real("n", 3, 3)  # body to world
    v: np.ndarray = real("n", 3)  # [m/s]
    w: np.ndarray = real("n", 3)  # [rad/s]
    # where the current free flight of each body began, inside the drift
    t0: np.ndarray = real("n")  # [s] since the start of the drift
    x0: np.ndarray = real("n", 3)
    q0: np.ndarray = real("n", 4)
    p0: np.ndarray = real("n", 3)
    l0: np.ndarray = real("n", 3)
    low0: np.ndarray = real("n", 6)
    island: np.ndarray = whole("n")  # union-find parent, then island label
    # 0; where the kick takes impacts without restitution it is 1, and as much more as the steps for which it all but rests
    crowd: np.ndarray = whole("n")
    # time in the drift at which its island is kicked again, because joints could not wait [s]; 0: it is not; below 0: it is
    # kicked at the start, because another push acts on it than the last kick assumed
    until: np.ndarray = real("n")
    parts: np.ndarray = whole("n")  # into how many parts its island divided the last drift; 0: one
    kicked: np.ndarray = real("n")  # when in the drift its island was last kicked [s]; before it for a kick of an earlier step
    flown: np.ndarray = real("n")  # length of the flight that it was for [s]; 0: its phase was taken back (contact/half_kick.py)
    held: np.ndarray = whole("n")  # number of that kick in the step, if its phase can be taken back; 0: not
    # forces of flight. For driven bodies gravity and torque are the accelerations, linear and angular, that cover the coming
    # arc from its start (forces/prescribed_motion.py), pull bounds what it departs from that, twist the angular acceleration
    gravity: np.ndarray = real("n", 3)  # acceleration by uniform fields [m/s^2]
    force: np.ndarray = real("n", 3)  # all other forces, at the current state [N]
    torque: np.ndarray = real("n", 3)  # their torque about the centre of mass [N m]
    dv: np.ndarray = real("n", 3)  # from the velocity now to that in the middle of the coming flight, where forces tell [m/s]
    dw: np.ndarray = real("n", 3)  # likewise of the angular velocity [rad/s]
    pull: np.ndarray = real("n")  # bound on |force| / mass in the coming flight [m/s^2]
    twist: np.ndarray = real("n")  # bound on |torque| in the coming flight [N m]
    # driven bodies: acceleration and its rate at the start of the coming arc; where in the table of knots their path is
    a_drive: np.ndarray = real("n", 3)  # [m/s^2]
    j_drive: np.ndarray = real("n", 3)  # [m/s^3]
    a_turn: np.ndarray = real("n", 3)  # of the rotation vector [rad/s^2]
    j_turn: np.ndarray = real("n", 3)  # [rad/s^3]
    path: np.ndarray = whole("n", 2)  # first row and the one after the last; equal: no path
    # sleep (contact/sleep_criterion.py)
    still: np.ndarray = whole("n")  # steps for which the body has been still
    bed: np.ndarray = whole("n")  # of sleeping bodies: serial number of the first body of the island
    field: np.ndarray = real("n", 3)  # of sleeping bodies: gravity, which then is zero in flight [m/s^2]
    period: np.ndarray = real("n")  # [s] of a path that is a loop; 0: none
    knots: np.ndarray = real("k", KNOT)  # of all paths


@group
class Geoms(NamedTuple):
    """Convex pieces: which shape on which body, where."""

    body: np.ndarray = whole("m")
    shape: np.ndarray = whole("m")  # row of the packed Geometry
    x: np.ndarray = real("m", 3)  # of the shape's origin from the centre of mass, body axes [m]
    rot: np.ndarray = real("m", 3, 3)  # shape to body
    mobile: np.ndarray = truth("m")  # moved by impulses, or a sensor: pairs of two others are not looked for
    moves: np.ndarray = whole("m")  # 0 where the body is static
    sensor: np.ndarray = whole("m")  # 1 where it feels overlap and does not touch
    asleep: np.ndarray = whole("m")  # 1 where the body sleeps
    groups: np.ndarray = whole("m")  # bit set: what it is
    mask: np.ndarray = whole("m")  # bit set: what it meets
    apart: np.ndarray = whole("k")  # sorted keys of pairs of bodies that do not meet (joints.pairs.pair_key)
    lo: np.ndarray = real("m", 3)  # swept bounds over the coming drift
    hi: np.ndarray = real("m", 3)
    wide_lo: np.ndarray = real("m", 3)  # bounds that hold those of some drifts to come as well (wide_boxes.py)
    wide_hi: np.ndarray = real("m", 3)
    # PIECE; CARRIER of a ground; of a facet of a ground the triangle that it is, or IDLE, or its plane: PLANE - 2 k, and
    # PLANE - 2 k - 1 from behind (contact/ground/facet_rows.py)
    face: np.ndarray = whole("m", fill=PIECE)
    level: np.ndarray = whole("m", fill=-1)  # a plane facet that is all of its ground within reach of the piece; -1: none
    short: np.ndarray = whole("m")  # how many facets more a ground needs, at its carrier


@group
class Pairs(NamedTuple):
    """Candidate pairs of pieces, sorted, with what is known of each."""

    count: np.ndarray = whole(3)  # of pairs, of pairs with a sensor, and 1 more than of near pairs; 0: these are not known
    geoms: np.ndarray = whole("c", 2)
    near: np.ndarray = whole("8 c", 2)  # sorted: pairs whose wide boxes meet (wide_boxes.py)
    met: np.ndarray = whole("c", 2)  # those of them whose boxes meet
    axis: np.ndarray = real("c", 3)  # last normal: where the next query starts
    search: np.ndarray = whole("c")  # what is known of its next impact: KNOWN, WANTED or FUTILE
    event: np.ndarray = real("c")  # time of the next impact within the drift, if that is known [s]; inf: none
    speed: np.ndarray = real("c")  # approach speed at that time [m/s]
    clear: np.ndarray = real("c", 2)  # c, s: at time t of the drift the gap is at least c - s t [m], [m/s]; -inf: unknown
    # features that bore load in the last kick, of those that are followed (contact_accelerations.py)
    bears: np.ndarray = whole("c", POINTS)
    arrives: np.ndarray = real("c", POINTS)  # with which speed each of these comes back [m/s]; 0: there are no more of them
    hits: np.ndarray = whole("c")  # impacts in the current drift
    struck: np.ndarray = real("c")  # when the last of these was [s]; -inf: there was none
    rests: np.ndarray = whole("c")  # 1: it carried load in the last kick, and its bodies fly as that let them
    # 1: the last kick did not know of it, or, that of a crowd, did not keep it apart; or one of its bodies was struck since
    unforeseen: np.ndarray = whole("c")
    fresh: np.ndarray = truth("c")  # the manifold below belongs to the bodies' state at the end of the drift
    points: np.ndarray = whole("c")  # number of contact points
    normal: np.ndarray = real("c", 3)
    rows: np.ndarray = real("c", POINTS, ROWS)
    ids: np.ndarray = whole("c", POINTS)
    sensors: np.ndarray = whole("c", 2)  # pairs of pieces of which one is a sensor
    # the last manifold that was looked for, if the pair is of a crowd (carried_manifolds.py)
    slot: np.ndarray = whole("c")  # in which row of the arrays below it is
    # pose of the smaller body against the other one; the margin [m], 0: nothing is known; by how much the manifold was off, for
    # the way that it had been carried, when it was found last; that way [m]; and how often it was carried since
    seen: np.ndarray = real("c", 16)
    seen_points: np.ndarray = whole("c")
    seen_normal: np.ndarray = real("c", 3)  # in the frame of the larger body
    seen_ids: np.ndarray = whole("c", POINTS)
    anchors: np.ndarray = real("c", POINTS, 16)  # places and tangents in the frames of both bodies, curvatures


@group
class Contacts(NamedTuple):
    """Contact points of the last kick, in the order of the pairs."""

    count: np.ndarray = whole(3)  # rows of the kick at the step; with those of kicks in mid-step behind them; kicks in this step
    pair: np.ndarray = whole("c", 2)  # geoms
    body: np.ndarray = whole("c", 2)
    id: np.ndarray = whole("c")  # feature id within the pair
    point: np.ndarray = real("c", 3)  # [m]
    frame: np.ndarray = real("c", 3, 3)  # rows: two tangents, normal
    gap: np.ndarray = real("c")  # [m]
    law: np.ndarray = real("c", COEFFICIENTS)  # of the pair
    mu: np.ndarray = real("c")  # friction that bounded the last kick
    impulse: np.ndarray = real("c", 3)  # what its force gives in half a step, in the frame [N s]
    push: np.ndarray = real("c")  # normal part of what last pushed overlaps apart [kg m]
    slides: np.ndarray = whole("c")  # law of the tangent: STATIC_FRICTION, SLIDING_FRICTION or KINETIC_FRICTION
    moment: np.ndarray = real("c", 3)  # in half a step by rolling and torsional friction, in the frame [N m s]
    turns: np.ndarray = whole("c", 2)  # their laws, STATIC_FRICTION or SLIDING_FRICTION
    u: np.ndarray = real("c", 3)  # relative velocity before the kick, in the frame [m/s]
    u_after: np.ndarray = real("c", 3)
    arrives: np.ndarray = real("c")  # normal velocity with which what bears load comes to the next kick [m/s]; nan: it bore none
    phase: np.ndarray = real("c")  # the part of it that the kick gave, and the next one takes again [m/s]
    lent: np.ndarray = real("c")  # energy that the kick gave for the coming flight, which the next one takes again [J]
    creeps: np.ndarray = real("c", 3)  # slip with which what sticks comes to it, in the world [m/s]; nan: it slid, or bore none
    owed: np.ndarray = real("c", 3)  # what the kick gave for the coming half flight, in the frame [N s]
    bounce: np.ndarray = real("c", 7)  # what is to be taken back with its place: momentum, moment, energy (half_kick_removal.py)
    kick: np.ndarray = whole("c")  # the kick in which it bore load, see Bodies.held
    loss: np.ndarray = real("c")  # energy that friction, and restitution or a slow landing, took [J]
    residual: np.ndarray = real("c")  # what the solve of its island missed the law by [m/s]
    accel: np.ndarray = real("c", 3)  # relative acceleration in free flight at the geometric contact, in the frame [m/s^2]
    island: np.ndarray = whole("c")
    order: np.ndarray = whole("c")  # rows sorted by island


@group
class Memory(NamedTuple):
    """What contacts and pairs knew before the first event of a drift (flight/saved_state.py), as they have it."""

    count: np.ndarray = whole(2)  # 1 more than of contacts, 0: there was no event; of pairs that knew anything
    point: np.ndarray = real("c", 3)
    frame: np.ndarray = real("c", 3, 3)
    creeps: np.ndarray = real("c", 3)
    owed: np.ndarray = real("c", 3)
    kick: np.ndarray = whole("c")
    geoms: np.ndarray = whole("p", 2)
    bears: np.ndarray = whole("p", POINTS)
    arrives: np.ndarray = real("p", POINTS)
    unforeseen: np.ndarray = whole("p")


@group
class Joints(NamedTuple):
    """Joints of two bodies each, in the order of adding. See tumble.sim.joints.rows for coordinates, blocks and rows."""

    kind: np.ndarray = whole("j")  # POINT, HINGE ...
    body: np.ndarray = whole("j", 2)  # -1: the world
    anchor: np.ndarray = real("j", 2, 3)  # from the centre of mass in body axes; in the world for the world [m]
    frame: np.ndarray = real("j", 2, 3, 3)  # joint to body; the third axis is that of the joint
    rigid: np.ndarray = whole("j", 6)  # 1 where the coordinate is held at zero
    axis: np.ndarray = whole("j")  # the free coordinate, -1 for none
    length: np.ndarray = real("j")  # [m] of a rod; the sign of a general joint's coordinates
    ratio: np.ndarray = real("j", 4)  # pitch radii [m] and teeth of a gear; [m/rad] of a screw
    rest: np.ndarray = real("j")  # coordinate at which the spring is slack
    stiffness: np.ndarray = real("j")
    damping: np.ndarray = real("j")
    armature: np.ndarray = real("j")  # inertia of a rotor that turns with the coordinate [kg or kg m^2]
    friction: np.ndarray = real("j")  # largest force or torque
    speed: np.ndarray = real("j")  # of the motor
    strength: np.ndarray = real("j")  # largest force or torque of the motor
    limit: np.ndarray = real("j", 2)  # of the coordinate
    collide: np.ndarray = whole("j")  # the two bodies also touch
    # state
    value: np.ndarray = real("j")  # free coordinate at the last kick; an angle counts its turns
    potential: np.ndarray = real("j")  # of the spring at the last kick [J]
    impulse: np.ndarray = real("j", 12)  # what its forces give in half a step, by rows
    load: np.ndarray = real("j", 6)  # forces of its rigid and kept coordinates at the end of the last flight [N or N m]
    kept: np.ndarray = whole("j")  # what holds the free coordinate at its pace in flight, see joints/kept_rows.py; 0: nothing
    pace: np.ndarray = real("j")  # rate of the free coordinate after the last kick [m/s or rad/s]
    sprung: np.ndarray = whole("j")  # 1: its spring and damper act in this flight, see joints/flown_springs.py; 0: at the steps
    sprung_before: np.ndarray = whole("j")  # the same in the flight before
    # rate of each coordinate after the kick that would end the drift where it began; nan: unknown
    hold: np.ndarray = real("j", 6)
    hold_before: np.ndarray = real("j", 6)  # the same at the kick before
    before: np.ndarray = real("j", 12)  # velocity of each row before the kick
    after: np.ndarray = real("j", 12)
    island: np.ndarray = whole("j")
    order: np.ndarray = whole("j")  # joints sorted by island
    linked: np.ndarray = whole("n")  # of each body: label of the bodies that joints connect with it; -1: none
    apart: np.ndarray = whole("a")  # sorted keys of the pairs of bodies that do not touch (joints.pairs.pair_key)


# slots of Books.counters
STEPS, IMPACTS, SOLVES, ITERATIONS, UNSOLVED, UNCERTAIN_PAIRS, CAPPED, REKICKS, PLACED = range(9)
# how full the lists of Books are; LOST_EVENTS: events that had no room
EVENTS, LOST_EVENTS, TOUCHING_PAIRS, SENSED, ACCOUNTS = range(9, 14)
COUNTERS = 14
# kinds of events
TOUCH_BEGINS, TOUCH_PERSISTS, TOUCH_ENDS, IMPACT, SENSOR_ENTERED, SENSOR_LEFT = range(6)
LOG = 15  # columns of Books.log, see impact/event_log.py
# slots of Books.worst
RESIDUAL, DEPTH, GAIN = range(3)
WORST = 3


@group
class Books(NamedTuple):
    """Where energy and momentum went, cumulative, up to the middle of the last kick; see ledger/entries.py."""

    # what rounding left of the last addition stands behind each sum, and the next addition takes it along (ledger/work.py):
    # [J] of each entry, and of each what its sum holds too much
    energy: np.ndarray = real("2 e")
    pending: np.ndarray = real("e")  # [J] of the second half of the last kick
    moved: np.ndarray = real(1)  # [J] sum of absolute works
    # momentum and angular momentum about the origin given to static and kinematic bodies, and what both hold too much
    reservoir: np.ndarray = real(4, 3)
    reservoir_pending: np.ndarray = real(2, 3)
    counters: np.ndarray = whole(COUNTERS)
    worst: np.ndarray = real(WORST)
    # events (impact/event_log.py)
    watch: np.ndarray = whole(1)  # 1 where contacts that persist are events too
    log: np.ndarray = real("l", LOG)  # events since they were read last
    touching: np.ndarray = whole("t")  # keys of the pairs of bodies that touched in the last kick, sorted
    sensed: np.ndarray = whole("t")  # likewise of those that overlap with a sensor
    # accounts of pairs of bodies, on request: an open hash table
    account: np.ndarray = whole("a")  # key + 1; 0: free
    works: np.ndarray = real("a", 8)  # contact, restitution, friction, external [J]; the same pending


@group
class Forces(NamedTuple):
    """Forces other than uniform gravity: a row for each body, or pair of bodies, that one acts on.

    A cluster is a set of dynamic bodies that forces couple: they fly together, and what interrupts the flight of one
    interrupts that of all. Rows and members are sorted by cluster. Bodies that no force acts on are in none.
    """

    method: np.ndarray = whole(1)  # integrator, a row of tumble.sim.flight.methods.integrators.INTEGRATORS
    clock: np.ndarray = real(2)  # when the drift starts, and how long it is [s]
    kind: np.ndarray = whole("m")  # see forces/laws.py
    body: np.ndarray = whole("m", 2)  # -1: none
    number: np.ndarray = real("m", NUMBERS)  # parameters
    address: np.ndarray = whole("m")  # of a C function; or the row of ``knots`` where a table begins
    knots: np.ndarray = real("t", 7)  # time, force, torque
    cluster: np.ndarray = whole("n", fill=-1)  # of each body; -1: none
    member: np.ndarray = whole("b")  # bodies
    first_member: np.ndarray = whole("c + 1")
    first_row: np.ndarray = whole("c + 1")
    potential: np.ndarray = real("c")  # energy [J] of the forces on a cluster that have a potential, at the current poses
    # flights: x, q, p, L about the origin of the cluster (forces/path_rows.py); works of forces with a potential, without one,
    # and of the user's functions; what all but joints gave to p and L; work of dampers of joints
    path: np.ndarray = real("s", "n", FLIGHT)  # where there are joints, stations from the last row on backwards
    origin: np.ndarray = real("c", 3)  # [m]
    ends: np.ndarray = real("c")  # time of the drift at which the flight ends [s]
    steps: np.ndarray = whole("c", fill=1)  # of the integrator in the flight
    # joints whose rigid coordinates forces hold in flight (joints/constraint_forces.py), sorted by cluster
    first_link: np.ndarray = whole("c + 1")
    link: np.ndarray = whole("k")  # joint
    driver: np.ndarray = whole("k", 6, fill=-1)  # joint whose free coordinate this is: itself, or a drive of its frame; -1: none
    seats: np.ndarray = whole("k", 2)  # rows in ``member`` of both bodies; -1: moved by no force
    link_of: np.ndarray = whole("j")  # row in ``link`` of each joint, or of that whose frame it shares; -1: none
    held: np.ndarray = whole("k", 6)  # 1: a free coordinate that forces hold at its pace in this flight
    goal: np.ndarray = real("k", 6)  # where that one ends the flight [m or rad]; of a rotor, its rate at the start
    slack: np.ndarray = real("k", 6)  # acceleration that a row gives way by for a unit of its force: the inverse of a rotor
    coupled: np.ndarray = whole("c")  # 1: bodies act on each other, or joints do
    anchored: np.ndarray = whole("c")  # 1: a joint holds the cluster to what no force moves
    load: np.ndarray = real("k", 6)  # forces of the rows when they were asked for last [N or N m]
    lacks: np.ndarray = real("k", 8)  # acceleration, velocity or way that is left to give
    step: np.ndarray = real("k", 6)
    # common point, directions of the rows; from 24 on whether forces act along them, from 32 on about which axes their turns are,
    # from 41 on the coordinates of what has springs, at 47 whether it has
    place: np.ndarray = real("k", 48)
    # rates of the rows by the velocities of both bodies, a row for each velocity and a column for each rate; and what unit
    # forces along these columns do to the velocities
    g: np.ndarray = real("12 k", 8)
    w: np.ndarray = real("12 k", 8)
    first_meet: np.ndarray = whole("c + 1")
    meet: np.ndarray = whole("p", 4)  # two joints, or one twice, and the side of each on which they hold the same body
    slot: np.ndarray = whole("p", 6, 6)  # where in ``table`` the products of their rows belong, counted in numbers; -1: nowhere
    # where bodies hang from each other by one joint each (solvers/link_recursion.py)
    tree: np.ndarray = whole("c")  # 1: so it is
    chain: np.ndarray = whole("k", 2)  # its links in the order outwards, and the side of each on which something hangs
    reach: np.ndarray = real("b", REACH_WIDTH)  # articulated inertia: of a body, and of what hangs from it
    bias: np.ndarray = real("b", 8)  # force that moves these without accelerating them
    pivots: np.ndarray = real("6 k", PIVOT_WIDTH)  # of each free coordinate, see solvers/link_recursion.py
    # of each member of a cluster
    seat: np.ndarray = whole("n", fill=-1)  # place of each body in ``member``; -1: none
    stand: np.ndarray = real("b", 12)  # position and rotation
    motion: np.ndarray = real("b", 10)  # velocity, angular velocity, spin; energy of motion where the flight begins [J]
    gain: np.ndarray = real("b", 6)  # acceleration, change of velocity, or displacement
    reply: np.ndarray = real("b", 6)  # the part of it that the last round of a solve gave
    mobility: np.ndarray = real("b", 9)  # inverse inertia, world axes
    # the linear system of each cluster, a row for each rigid coordinate (solvers/skyline.py)
    first_panel: np.ndarray = whole("c + 1")
    equation: np.ndarray = whole("k", 6)  # of each coordinate, counted in its cluster; -1: free
    first_column: np.ndarray = whole("l")  # panel of columns, of each panel
    first_value: np.ndarray = whole("l + 1")
    table: np.ndarray = real("v", 4)
    sums: np.ndarray = real(1, 8)
    right: np.ndarray = real("l", 4)  # right-hand side
    call: np.ndarray = real(2, 16)  # what user functions are given, and give


class Settings(NamedTuple):
    """Numbers of a step."""

    dt: float  # [s]
    gravity: tuple[float, float, float]  # [m/s^2]
    tolerance: float  # solver stops when no contact's velocity is off by more [m/s]
    look_ahead: bool  # contacts of bodies that turn get the accelerations that the flight shows (contact_accelerations.py)
    iterations: int  # most Newton iterations of a solve
    solver: int  # NEWTON_SOLVER or SWEEPS_SOLVER
    sweeps: int  # most sweeps of a solve by sweeps
    correction: float  # part of a depth that one step removes
    slop: float  # depth that is rounding, not worth a correction [m]
    crowd: int  # bodies kicked again in a step, island by island, from which an island is a crowd
    skin: float  # gap, as part of the smaller body, up to which points of a crowd that bear load may count as touching
    restitution: int  # collision_law.STRONGE, POISSON or NEWTON_SOLVER
    sleep_steps: int  # steps of stillness after which an island falls asleep; 0: never
    sleep_speed: float  # what still is [m/s]
    sleep_spin: float  # [rad/s]
    crew: int  # address of the words by which threads share the work of a step (impact/thread_jobs.py); 0: there is one


class Model(NamedTuple):
    """All of a world that kernels see, but for the shapes."""

    bodies: Bodies
    geoms: Geoms
    pairs: Pairs
    contacts: Contacts
    books: Books
    forces: Forces
    joints: Joints


SHARED = ("rules", "exceptions", "knots")  # fields of Bodies that are no rows of bodies


def bodies_of(n: int) -> Bodies:
    return filled(Bodies, n=n, s=1)


def geoms_of(n: int) -> Geoms:
    return filled(Geoms, m=n)


def pairs_of(n: int) -> Pairs:
    return filled(Pairs, c=n)


def contacts_of(n: int) -> Contacts:
    return filled(Contacts, c=n)


def memory_of(contacts: int, pairs: int) -> Memory:
    return filled(Memory, c=contacts, p=pairs)


def joints_of(n: int) -> Joints:
    return filled(Joints, j=n)


def books_of(entries: int, room: int = 0, log: int = 0, accounts: int = 0) -> Books:
    """Books with room for so many candidate pairs, events and accounts."""
    return filled(Books, e=entries, t=room, l=log, a=accounts)


def forces_of(
    bodies: int, rows: int = 0, clusters: int = 0, members: int = 0, knots: int = 0, stages: int = 4, links: int = 0
) -> Forces:
    states = SLOPE + stages + (2 * STATIONS if links else 0)
    return filled(Forces, n=bodies, m=rows, c=clusters, b=members, t=knots, s=states, k=links)


def copied(group: NamedTuple, into: NamedTuple) -> None:
    """Copy the rows of one group to the head of a larger one."""
    for old, new in zip(group, into, strict=True):
        new[: len(old)] = old


# Examples of the types that kernels take.
EXAMPLE = Model(bodies_of(0), geoms_of(0), pairs_of(0), contacts_of(0), books_of(8), forces_of(0), joints_of(0))
SETTINGS = Settings(1.0, (0.0, 0.0, 0.0), 1.0, False, 1, NEWTON_SOLVER, 1, 1.0, 1.0, 1, 1.0, 0, 0, 1.0, 1.0, 0)
